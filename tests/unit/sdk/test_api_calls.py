"""What the client of a service sends, repeats and raises; answers come from the test."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from lakeguard_sdk.api.operations import operations_by_name
from lakeguard_sdk.api.problems import Problem, error_of, fields_of
from lakeguard_sdk.api.remote_calls import (
    TRIES,
    Lost,
    Pause,
    Reply,
    Request,
    Send,
    call_steps,
)
from lakeguard_sdk.core.dataset_name import DatasetName, parse_address
from lakeguard_sdk.errors import (
    InvalidDefinitions,
    LakeGuardError,
    MissingKey,
    NotRegistered,
    Place,
    RateLimited,
    RequestRefused,
    ServiceBusy,
    ServiceNotTrusted,
    StateUnavailable,
)
from lakeguard_sdk.model.run import WorkerIdentity

NUMBERS = DatasetName("bronze.numbers")
WORKER = WorkerIdentity(name="w", host="h", pid=1, process_mark="m")
Answer = Callable[[Request], Reply | Lost]


def ok(data: Any, **headers: str) -> Reply:
    return Reply(200, headers, json.dumps(data).encode())


def refused(error: LakeGuardError, status: int, **headers: str) -> Reply:
    problem = Problem(
        title="x",
        status=status,
        detail=str(error),
        code=error.code,
        next=error.next_step,
        retryable=error.retryable,
        error=type(error).__name__,
        fields=fields_of(error),
    )
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, named, problem.to_json().encode())


def called(
    name: str, answer: Answer, *args: Any, **fields: Any
) -> tuple[Any, list[Request], list[float]]:
    """The result of a call, the requests that were sent, and the pauses between them."""
    steps = call_steps(operations_by_name()[name], args, fields, "http://there")
    sent: list[Request] = []
    pauses: list[float] = []
    given: Any = None
    try:
        while True:
            step = steps.send(given)
            given = None
            if isinstance(step, Send):
                sent.append(step.request)
                given = answer(step.request)
            elif isinstance(step, Pause):
                pauses.append(step.seconds)
    except StopIteration as end:
        return end.value, sent, pauses


def in_turn(*answers: Reply | Lost) -> Answer:
    left = iter(answers)
    return lambda _: next(left)


def test_parameters_stand_in_path_query_and_body() -> None:
    address = parse_address("silver.x@2026-01-31T00:00Z")
    with pytest.raises(RequestRefused):
        called("reader.resolve", in_turn(Reply(404, {}, b"what?")), address)
    _, (request,), _ = called("operations.submit", in_turn(ok({"task_id": "t"})), NUMBERS, "me")
    assert request.url == "/api/v1/datasets/bronze.numbers/tasks"
    assert json.loads(request.body or b"") == {"triggered_by": "me"}
    assert request.headers["Idempotency-Key"]
    reply = ok({"items": []})
    _, (request,), _ = called("reader.invalidations", in_turn(reply), every=True)
    assert request.query == (("every", "true"), ("page_size", "1000"))
    seen: list[Request] = []
    with pytest.raises(RequestRefused):
        called("reader.run", lambda asked: seen.append(asked) or Reply(404, {}, b""), "../a b")
    assert seen[0].url == "/api/v1/runs/..%2Fa%20b"


def test_a_newer_service_may_answer_with_more() -> None:
    opened = {"queued": True, "unheard_of": {"a": 1}}
    assert called("operations.requeue", in_turn(ok(opened)), "task_1")[0] is True


def test_what_may_be_repeated_is_sent_again_with_its_key() -> None:
    lost, busy = (
        Lost("reset", was_sent=True),
        refused(ServiceBusy(reason="x"), 429, retry_after="7"),
    )
    answers = in_turn(lost, busy, ok({"task_id": "t"}))
    result, sent, pauses = called("operations.submit", answers, NUMBERS, "me")
    assert (result, len(sent)) == ("t", 3)
    assert len({request.headers["Idempotency-Key"] for request in sent}) == 1
    assert pauses[1] == 7


def test_what_may_not_be_repeated_is_sent_once() -> None:
    count = []

    def answer(request: Request) -> Lost:
        count.append(request)
        return Lost("reset", was_sent=True)

    with pytest.raises(StateUnavailable, match="http://there is unavailable: reset"):
        called("dispatch.claim", answer, WORKER)
    assert len(count) == 1


def test_a_request_that_was_never_sent_may_always_be_sent() -> None:
    refusal = Lost("connection refused", was_sent=False)
    claimed = in_turn(refusal, ok({"assignments": [], "refused": []}))
    assert called("dispatch.claim", claimed, WORKER)[0] == ()
    with pytest.raises(StateUnavailable):
        called("reader.datasets", in_turn(*[refusal] * TRIES))


def test_a_service_that_nobody_vouches_for_is_asked_once() -> None:
    distrust = Lost("self-signed certificate", was_sent=False, is_untrusted=True)
    with pytest.raises(ServiceNotTrusted, match="no TLS connection to http://there: self-signed"):
        called("reader.datasets", in_turn(distrust))


def test_a_request_that_came_too_early_may_always_be_sent_again() -> None:
    early = refused(RateLimited(limit=60, seconds=3), 429, retry_after="3")
    claimed = in_turn(early, ok({"assignments": [], "refused": []}))
    result, sent, pauses = called("dispatch.claim", claimed, WORKER)
    assert (result, len(sent), pauses) == ((), 2, [3])
    with pytest.raises(RateLimited):
        called("dispatch.claim", in_turn(*[early] * TRIES), WORKER)


def test_lists_follow_their_pages() -> None:
    pages = in_turn(
        ok({"items": ["bronze.a"], "next_page_token": "t"}), ok({"items": ["bronze.b"]})
    )
    names, sent, _ = called("reader.changed", pages)
    assert names == ["bronze.a", "bronze.b"]
    assert dict(sent[1].query)["page_token"] == "t"
    _, (request,), _ = called("reader.runs", in_turn(ok({"items": []})), limit=7)
    assert dict(request.query) == {"page_size": "7"}
    assert called("reader.runs", in_turn(), limit=0)[:2] == ([], [])


def test_a_refusal_is_raised_as_the_service_raised_it() -> None:
    error = NotRegistered(dataset="silver.x", hint="; did you mean silver.y?")
    with pytest.raises(NotRegistered) as raised:
        called("reader.dataset", in_turn(refused(error, 404)), NUMBERS)
    assert str(raised.value) == str(error)
    assert raised.value.to_data() == error.to_data()
    assert raised.value.fields == error.fields


def test_errors_of_definitions_keep_their_places() -> None:
    place = Place(file="a.yaml", line=3, column=5)
    inner = MissingKey(place, key="owner")
    document = {
        "title": "x", "status": 422, "detail": str(InvalidDefinitions([inner])), "next": "y",
        "error": "InvalidDefinitions", "code": "LG-2000",
        "errors": [{
            "title": "x", "status": 422, "detail": str(inner), "next": "y", "code": inner.code,
            "error": "MissingKey", "fields": inner.fields, "place": place.to_data(),
        }],
    }  # fmt: skip
    error = error_of(Problem.model_validate(document))
    assert isinstance(error, InvalidDefinitions)
    assert [(each.code, each.place, str(each)) for each in error.errors] == [
        (inner.code, place, str(inner))
    ]


@pytest.mark.parametrize("body", [b"", b"<html>", b"{}", b'{"title": "x"}'])
def test_an_answer_of_somebody_else_is_told(body: bytes) -> None:
    with pytest.raises(RequestRefused):
        called("reader.datasets", in_turn(Reply(403, {}, body)))

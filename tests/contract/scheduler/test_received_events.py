"""Events of other systems: taken once, matched by patterns, refused where they are none."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from lakeguard.scheduler.triggers.external_events import receive
from lakeguard.services.ports.dispatch import EmbeddedDispatch
from lakeguard.services.ports.jobs import EmbeddedJobs
from lakeguard.state.schema import received_events
from lakeguard_sdk.errors import EventConflict, InvalidEvent, SecretInEvent
from lakeguard_sdk.model.definitions import JobDefinition
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.scheduling.tasks import Assignment
from tests.support.databases.databases import KINDS
from tests.support.projects.planes import NUMBERS
from tests.support.projects.triggered_jobs import (
    Plane,
    body,
    counted_statements,
    job,
    make_plane,
)

PAID = json.dumps({"source": ["shop"], "detail": {"state": ["paid"]}})
CLOUD: dict[str, Any] = {
    "specversion": "1.0",
    "id": "c-1",
    "source": "/shop/orders",
    "type": "order.paid",
    "data": {"order": 7},
}


ARRIVED = json.dumps(
    {
        "source": ["aws.s3"],
        "detail-type": ["Object Created"],
        "detail": {"bucket": {"name": ["company-lake"]}, "object": {"key": [{"prefix": "in/"}]}},
    }
)


@pytest.fixture(params=KINDS)
def plane(request: pytest.FixtureRequest, tmp_path: Path) -> Plane:
    return make_plane(request.param, tmp_path)


def kept(plane: Plane) -> int:
    events = received_events.c
    with plane.context.read() as tx:
        query = select(func.count()).where(events.org_id == plane.context.org_id)
        return tx.execute(query).scalar_one()


def test_an_event_starts_the_jobs_that_wait_for_it(plane: Plane) -> None:
    plane.apply(
        job("paid", on_event=PAID),
        job("all", on_event='{"detail-type": ["Order"]}'),
        job("other", on_event='{"source": ["bank"]}'),
    )
    launches = receive(plane.context, body())
    assert sorted((launch.job, launch.new) for launch in launches) == [
        ("all", True),
        ("paid", True),
    ]
    (parameters, cause), _ = plane.tasks("parameters", "cause")
    assert json.loads(parameters) == {
        "set": {
            "event.id": "e-1",
            "event.source": "shop",
            "event.type": "Order",
            "event.order.id": "7",
            "event.state": "paid",
        }
    }
    assert json.loads(cause)["kind"] == "event"
    assert kept(plane) == 1


def test_an_object_of_a_bucket_starts_a_job(plane: Plane) -> None:
    """As EventBridge sends it for S3."""
    plane.apply(job("load", on_event=ARRIVED))
    event = {
        "version": "0",
        "id": "17793124-05d4-b198-2fde-7ededc63b103",
        "detail-type": "Object Created",
        "source": "aws.s3",
        "account": "111122223333",
        "time": "2026-01-12T18:43:48Z",
        "region": "eu-central-1",
        "resources": ["arn:aws:s3:::company-lake"],
        "detail": {
            "version": "0",
            "bucket": {"name": "company-lake"},
            "object": {
                "key": "in/orders-2026-01-12.csv",
                "size": 5,
                "etag": "b1946ac92492d2347c6235b4d2611184",
                "sequencer": "00617F08299329D189",
            },
            "request-id": "N4N7GDK58NMKJ12R",
            "requester": "123456789012",
            "source-ip-address": "1.2.3.4",
            "reason": "PutObject",
        },
    }
    (launch,) = receive(plane.context, json.dumps(event).encode())
    assert (launch.job, launch.new) == ("load", True)
    ((parameters,),) = plane.tasks("parameters")
    given = json.loads(parameters)["set"]
    assert given["event.object.key"] == "in/orders-2026-01-12.csv"
    event["detail"]["object"]["key"] = "out/orders.csv"  # type: ignore[index]  # of many types
    assert receive(plane.context, json.dumps({**event, "id": "another"}).encode()) == []


def test_the_same_event_twice_starts_one_job(plane: Plane) -> None:
    plane.apply(job("paid", on_event=PAID))
    (first,) = receive(plane.context, body())
    plane.apply(job("paid", on_event=PAID), job("new", on_event=PAID))
    spaced = json.dumps(json.loads(body()), indent=2, sort_keys=True).encode()
    (again,) = receive(plane.context, spaced)
    assert again == first.model_copy(update={"new": False}), "and none for jobs that are new since"
    assert len(plane.tasks()) == kept(plane) == 1


def test_the_same_event_again_is_told_the_same_whatever_changed(plane: Plane) -> None:
    builds = JobDefinition(
        job="builds", type="build", dataset=NUMBERS, config={"on_event": PAID, "overlap": "skip"}
    )
    plane.apply(builds, job("alone", on_event=PAID, overlap="skip"), job("paid", on_event=PAID))
    receive(plane.context, body(id="e-0"))
    first = receive(plane.context, body())
    assert sorted((launch.job, launch.state, launch.code) for launch in first) == [
        ("alone", "blocked", "LG-3329"),
        ("builds", "blocked", "LG-3329"),
        ("paid", "queued", ""),
    ]
    known = [launch.model_copy(update={"new": False}) for launch in first]
    assert receive(plane.context, body()) == known
    plane.apply(builds, job("alone", on_event='{"source": ["elsewhere"]}'))
    assert receive(plane.context, body()) == known, "one waits for others now, one is no more"


def test_who_knows_the_jobs_reads_none_of_them_for_an_event(plane: Plane) -> None:
    plane.apply(job("paid", on_event='{"source": ["shop"]}'))
    receive(plane.context, body(id="e-0"), watch=plane.watch)
    with counted_statements(plane.context.database) as sent:
        receive(plane.context, body(source="elsewhere"), watch=plane.watch)
    assert not [statement for statement in sent if "md_jobs" in statement]
    plane.apply(job("more", on_event='{"source": ["elsewhere"]}'))
    launched = receive(plane.context, body(id="e-2", source="elsewhere"), watch=plane.watch)
    assert [each.job for each in launched] == ["more"], "a new job is known at once"


def test_an_event_sent_by_many_at_once_starts_one_job(plane: Plane) -> None:
    plane.apply(job("paid", on_event=PAID))
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: receive(plane.context, body()), range(8)))
    assert sum(launch.new for launches in answers for launch in launches) == 1
    assert len({launch.task_id for launches in answers for launch in launches}) == 1
    assert len(plane.tasks()) == kept(plane) == 1


def test_the_same_name_with_other_content_is_refused(plane: Plane) -> None:
    plane.apply(job("paid", on_event=PAID))
    receive(plane.context, body())
    with pytest.raises(EventConflict, match=r"event e-1 of shop was already received"):
        receive(plane.context, body(detail={"state": "paid", "sum": 1.5}))
    receive(plane.context, body(source="other", detail={}))
    assert (len(plane.tasks()), kept(plane)) == (1, 2), "a source has ids of its own"


def test_an_event_that_nobody_waits_for_is_kept_and_starts_nothing(plane: Plane) -> None:
    assert receive(plane.context, body()) == []
    plane.apply(job("paid", on_event=PAID))
    assert receive(plane.context, body()) == [], "it came before the job was there"
    assert kept(plane) == 1


def test_cloud_events_are_understood_too(plane: Plane) -> None:
    plane.apply(job("cloud", on_event='{"type": [{"prefix": "order."}], "data": {"order": [7]}}'))
    (launch,) = receive(plane.context, json.dumps(CLOUD).encode(), shape="cloudevents")
    assert launch.new
    ((parameters,),) = plane.tasks("parameters")
    assert json.loads(parameters)["set"]["event.order"] == "7"


def claimed(plane: Plane) -> Assignment:
    (assignment,) = EmbeddedDispatch(plane.context).claim(this_process("tests"))
    return assignment


def test_an_event_names_no_secret(plane: Plane) -> None:
    """What somebody outside wrote is a text, also under a name that the job's own details have."""
    own = {"key": "env:OWN_KEY", "event.key": "env:OWN_KEY"}
    plane.apply(job("paid", on_event='{"source": ["shop"]}').model_copy(update={"details": own}))
    receive(plane.context, body(detail={"key": "env:OTHER_KEY", "place": "file:/etc/passwd"}))
    given = claimed(plane)
    assert given.parameters["event.key"] == "env:OTHER_KEY"
    assert given.parameters["event.place"] == "file:/etc/passwd"
    assert given.secrets == {"key": "env:OWN_KEY"}


def test_a_person_may_name_a_secret_for_one_launch(plane: Plane) -> None:
    plane.apply(job("paid").model_copy(update={"details": {"key": "env:OWN_KEY", "region": "eu"}}))
    EmbeddedJobs(plane.context).trigger("paid", "tester", set_to={"key": "env:NEW_KEY"})
    given = claimed(plane)
    assert given.secrets == {"key": "env:NEW_KEY"}
    assert given.parameters == {"key": "env:NEW_KEY", "region": "eu"}


def test_a_job_is_told_numbers_as_they_were_written(plane: Plane) -> None:
    plane.apply(job("paid", on_event='{"source": ["shop"]}'))
    sent = {"n": 1.5, "whole": 7, "yes": True, "many": [0.1, "a", {"b": 2.50}, None]}
    receive(plane.context, body(detail=sent))
    ((parameters,),) = plane.tasks("parameters")
    document = json.loads(parameters)["set"]
    assert {key: document[f"event.{key}"] for key in sent} == {
        "n": "1.5",
        "whole": "7",
        "yes": "true",
        "many": '[0.1, "a", {"b": 2.5}, null]',
    }


def test_a_job_is_told_no_more_than_it_can_bear(plane: Plane) -> None:
    plane.apply(job("paid", on_event='{"source": ["shop"]}'))
    many = {f"k{number}": number for number in range(60)}
    receive(plane.context, body(detail={"long": "x" * 1_001, **many}))
    ((parameters,),) = plane.tasks("parameters")
    document = json.loads(parameters)["set"]
    assert len(document) == 51
    assert document["event.left_out"] == str(61 - 47)


@pytest.mark.parametrize(
    ("sent", "given"),
    [
        (b"", "is not JSON"),
        (b"[]", "not one object"),
        (b"\xff", "UTF-8"),
        (b'{"a": NaN}', "is not JSON"),
        (b'{"id": "1", "id": "2"}', "stands twice"),
        (b"[" * 100_000, "levels deep"),
        (b"{}", "neither the specversion"),
        (body(id=""), "no id"),
        (body(id=7), "no id"),
        (body(id="a\0b"), "cannot be shown"),
        (body(source="x" * 301), "longer than 300"),
        (body(detail="text"), "detail is no object"),
        (json.dumps({**CLOUD, "specversion": "0.3"}).encode(), "another version"),
        (json.dumps({**CLOUD, "type": " "}).encode(), "no type"),
        (body(detail={"x": "y" * 300_000}), "more than 262,144 bytes"),
    ],
)
def test_what_is_no_event_is_refused_and_kept_nowhere(
    plane: Plane, sent: bytes, given: str
) -> None:
    with pytest.raises(InvalidEvent, match=given):
        receive(plane.context, sent)
    assert kept(plane) == 0


def test_an_event_of_another_shape_than_said_is_refused(plane: Plane) -> None:
    with pytest.raises(InvalidEvent, match="shape of eventbridge, not of cloudevents"):
        receive(plane.context, body(), shape="cloudevents")
    with pytest.raises(InvalidEvent, match="is no shape"):
        receive(plane.context, body(), shape="smoke")


def test_an_event_with_a_secret_is_refused_and_kept_nowhere(plane: Plane) -> None:
    with pytest.raises(SecretInEvent) as refused:
        receive(plane.context, body(detail={"note": "AKIA" + "ABCDEFGHIJKLMNOP"}))
    assert "AKIA" not in str(refused.value)
    assert kept(plane) == 0


@pytest.mark.parametrize(
    "detail",
    [
        {"password": "hunter2hunter2"},
        {"login": {"api_key": "correct-horse-battery-9"}},
        {"logins": [{"token": "short"}]},
        {"secret": {"value": "short"}},
        {"tokens": ["short"]},
    ],
)
def test_an_event_that_names_a_secret_is_refused(plane: Plane, detail: dict[str, Any]) -> None:
    with pytest.raises(SecretInEvent):
        receive(plane.context, body(detail=detail))
    assert kept(plane) == 0


def test_a_name_of_a_secret_is_none(plane: Plane) -> None:
    receive(plane.context, body(detail={"password": "env:SHOP_PASSWORD", "token": "", "tokens": 7}))
    assert kept(plane) == 1


def test_another_organisation_hears_nothing(plane: Plane) -> None:
    other = plane.elsewhere("other")
    other.apply(job("paid", on_event=PAID))
    assert receive(plane.context, body()) == []
    assert (kept(other), other.tasks()) == (0, [])
    (launch,) = receive(other.context, body())
    assert launch.new

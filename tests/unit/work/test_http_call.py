"""Jobs that run outside: what the other side is told, and what its answer means."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from lakeguard.work import http_call
from lakeguard.work.attempt import Attempt
from lakeguard.work.http_call import call_out
from lakeguard_sdk.dispatch import Output, TaskReport
from lakeguard_sdk.run import Failure
from lakeguard_sdk.task_token import ticket_of
from lakeguard_sdk.words import TaskKind
from tests.worlds.assignments import attempt_of
from tests.worlds.receivers import SECRET, receiver

Called = Callable[..., Attempt]


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> Called:
    monkeypatch.setenv("JOB_SECRET", SECRET)
    monkeypatch.setenv("ELSE", "a word that stays here")

    def make(url: str, **fields: object) -> Attempt:
        secrets = {"signing_secret": "env:JOB_SECRET", "other": "env:ELSE"}
        said = {"secrets": secrets, "parameters": {"region": "eu"}, **fields}
        return attempt_of(TaskKind.HTTP, url=url, **said)

    return make


def failure(report: TaskReport | None) -> Failure:
    assert report is not None
    assert report.error is not None
    return report.error


def test_what_the_other_side_is_told(called: Called) -> None:
    with receiver(202) as outside:
        attempt = called(outside.url, outputs=("report",), timeout_seconds=900)
        assert call_out(attempt) is None
        assert call_out(attempt) is None
    first, again = outside.bodies
    assert first == again
    assert ticket_of(first.pop("token")) == attempt.ticket
    assert first == {
        "job": "nightly",
        "task": attempt.ticket.task_id,
        "run": attempt.ticket.run_id,
        "attempt": 1,
        "parameters": {"region": "eu"},
        "outputs": ["report"],
        "timeout_seconds": 900,
        "report_path": "/tasks/report",
        "keep_path": "/tasks/keep",
    }
    assert outside.deliveries == [f"dlv_{attempt.ticket.run_id}"] * 2
    assert "stays here" not in json.dumps([outside.came, outside.bodies])


@pytest.mark.parametrize(
    ("status", "code", "retryable"),
    [
        (400, "LG-5656", False),
        (404, "LG-5656", False),
        (302, "LG-5656", False),
        (408, "LG-5657", True),
        (429, "LG-5657", True),
        (500, "LG-5657", True),
        (503, "LG-5657", True),
    ],
)
def test_what_a_refusal_means(called: Called, status: int, code: str, retryable: bool) -> None:
    with receiver(status) as outside:
        error = failure(call_out(called(outside.url)))
        assert len(outside.came) == 1
    assert (error.code, error.retryable) == (code, retryable)
    assert error.message.endswith(f"the address answered {status}")


def test_silence_may_pass(called: Called, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_call, "MOST_SECONDS", 0.3)
    with receiver(-1) as outside:
        error = failure(call_out(called(outside.url)))
    assert (error.code, error.retryable) == ("LG-5657", True)
    assert "did not answer in time" in error.message
    gone = failure(call_out(called(outside.url)))
    assert (gone.code, gone.retryable) == ("LG-5657", True)


@pytest.mark.parametrize(
    "parameters",
    [{}, {"signing_secret": "written out"}, {"signing_secret": "env:JOB_SECRET"}],
    ids=["none", "written out", "not its own"],
)
def test_nothing_is_sent_that_is_not_signed(called: Called, parameters: dict[str, str]) -> None:
    with receiver() as outside:
        error = failure(call_out(called(outside.url, secrets={}, parameters=parameters)))
        assert outside.came == []
    assert (error.code, error.retryable) == ("LG-5656", False)
    assert "written out" not in error.message


def test_a_secret_that_is_not_there(called: Called) -> None:
    missing = {"signing_secret": "env:NOT_SET_ANYWHERE"}
    error = failure(call_out(called("http://127.0.0.1:9/", secrets=missing)))
    assert error.code == "LG-5008"


@pytest.mark.parametrize(
    ("reply", "report"),
    [
        ({"report": {"success": True, "outputs": {"sum": {"rows": 3}}}}, "success"),
        ({"report": {"success": "perhaps"}}, "LG-5656"),
        ({"report": {"success": True, "outputs": {"No Word": {}}}}, "LG-5656"),
        ({"execution": "arn:1"}, None),
        (["report"], None),
        ("no object", None),
    ],
)
def test_an_answer_may_bring_the_report(called: Called, reply: object, report: str | None) -> None:
    with receiver() as outside:
        outside.reply = json.dumps(reply).encode()
        found = call_out(called(outside.url))
    if report is None:
        assert found is None
    elif report == "success":
        assert found == TaskReport(success=True, outputs={"sum": Output(rows=3)})
    else:
        assert failure(found).code == report

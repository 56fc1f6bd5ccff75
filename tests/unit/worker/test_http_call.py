"""Jobs that run outside: what the other side is told, and what its answer means."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from lakeguard.worker import http_job
from lakeguard.worker.attempt import Attempt
from lakeguard.worker.http_job import MOST_ANSWERED, start_http_job
from lakeguard_sdk.core.enums import TaskKind
from lakeguard_sdk.model.run import Failure
from lakeguard_sdk.scheduling.tasks import Output, TaskReport
from tests.support.fakes.webhook_receiver import SECRET, receiver
from tests.support.projects.assignments import attempt_of

Called = Callable[..., Attempt]


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> Called:
    monkeypatch.setenv("JOB_SECRET", SECRET)
    monkeypatch.setenv("ELSE", "a word that stays here")

    def make(url: str, **fields: object) -> Attempt:
        secrets = {"signing_secret": "env:JOB_SECRET", "other": "env:ELSE"}
        given = {"secrets": secrets, "parameters": {"region": "eu"}, **fields}
        return attempt_of(TaskKind.HTTP, url=url, **given)

    return make


def failure(report: TaskReport | None) -> Failure:
    assert report is not None
    assert report.error is not None
    return report.error


def test_what_the_other_side_is_told(called: Called) -> None:
    with receiver(202, 202) as outside:
        outside.reply = b""
        attempt = called(outside.url, outputs=("report",), timeout_seconds=900)
        assert start_http_job(attempt) is None
        assert start_http_job(attempt) is None
    first, again = outside.bodies
    assert first == again
    assert first.pop("token") == "issued"
    assert first == {
        "job": "nightly",
        "task": attempt.ticket.task_id,
        "run": attempt.ticket.run_id,
        "attempt": 1,
        "parameters": {"region": "eu"},
        "outputs": ["report"],
        "timeout_seconds": 900,
        "report_path": "/api/v1/tasks/report",
        "keep_path": "/api/v1/tasks/keep",
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
        error = failure(start_http_job(called(outside.url)))
        assert len(outside.came) == 1
    assert (error.code, error.retryable) == (code, retryable)
    assert error.message.endswith(f"HTTP status {status}")


def test_silence_may_pass(called: Called, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_job, "MOST_SECONDS", 0.3)
    with receiver(-1) as outside:
        error = failure(start_http_job(called(outside.url)))
    assert (error.code, error.retryable) == ("LG-5657", True)
    assert "did not answer in time" in error.message
    gone = failure(start_http_job(called(outside.url)))
    assert (gone.code, gone.retryable) == ("LG-5657", True)


@pytest.mark.parametrize(
    "parameters",
    [{}, {"signing_secret": "written out"}, {"signing_secret": "env:JOB_SECRET"}],
    ids=["none", "written out", "not its own"],
)
def test_nothing_is_sent_that_is_not_signed(called: Called, parameters: dict[str, str]) -> None:
    with receiver() as outside:
        error = failure(start_http_job(called(outside.url, secrets={}, parameters=parameters)))
        assert outside.came == []
    assert (error.code, error.retryable) == ("LG-5656", False)
    assert "written out" not in error.message


def test_a_secret_that_is_not_there(called: Called) -> None:
    missing = {"signing_secret": "env:NOT_SET_ANYWHERE"}
    error = failure(start_http_job(called("http://127.0.0.1:9/", secrets=missing)))
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
        ("report", None),
    ],
)
def test_an_answer_may_bring_the_report(called: Called, reply: object, report: str | None) -> None:
    with receiver() as outside:
        outside.reply = json.dumps(reply).encode()
        found = start_http_job(called(outside.url))
    if report is None:
        assert found is None
    elif report == "success":
        assert found == TaskReport(success=True, outputs={"sum": Output(rows=3)})
    else:
        assert failure(found).code == report


def report_of(length: int) -> tuple[bytes, TaskReport]:
    """A reply of so many bytes, and the report that it brings."""
    report = {"success": True, "outputs": {"sum": {"notes": {"text": ""}}}}
    text = "x" * (length - len(json.dumps({"report": report})))
    report["outputs"] = {"sum": {"notes": {"text": text}}}
    return json.dumps({"report": report}).encode(), TaskReport.model_validate(report)


@pytest.mark.parametrize("length", [1_000, 9 * 1024, MOST_ANSWERED])
@pytest.mark.parametrize("framing", ["length", "chunks", "close"])
def test_a_report_is_heard_however_the_answer_ends(
    called: Called, framing: str, length: int
) -> None:
    reply, report = report_of(length)
    assert len(reply) == length
    with receiver() as outside:
        outside.reply, outside.framing = reply, framing
        assert start_http_job(called(outside.url)) == report


@pytest.mark.parametrize("framing", ["length", "chunks", "close"])
def test_an_answer_that_is_too_long_is_no_yes(called: Called, framing: str) -> None:
    with receiver() as outside:
        outside.reply, outside.framing = report_of(MOST_ANSWERED + 1)[0], framing
        error = failure(start_http_job(called(outside.url)))
    assert (error.code, error.retryable) == ("LG-5656", False)
    assert "response larger than 262,144 bytes" in error.message


def test_an_answer_that_breaks_off_is_no_yes(called: Called) -> None:
    with receiver() as outside:
        outside.reply, outside.framing = report_of(1_000)[0], "short"
        error = failure(start_http_job(called(outside.url)))
    assert (error.code, error.retryable) == ("LG-5657", True)


@pytest.mark.parametrize(
    "reply",
    [
        b'{"report": {"success": true, "outputs": {"sum": {"notes": {"auc": NaN}}}}}',
        b'{"report": {"success": true, "success": false}}',
        b'{"report": {"success": true, "outputs": {"sum": {"notes": {"a": %s}}}}}'
        % (b"[" * 300 + b"]" * 300),
        b'{"report": {"success": true, "outputs": {"sum": {"notes": {"a": "\xff"}}}}}',
        b'{"report": ' + b"[" * 7_000,
    ],
    ids=["no number", "twice", "deep", "no text", "endless"],
)
def test_a_report_that_cannot_be_read_is_no_yes(called: Called, reply: bytes) -> None:
    with receiver() as outside:
        outside.reply = reply
        error = failure(start_http_job(called(outside.url)))
    assert (error.code, error.retryable) == ("LG-5656", False)
    assert "the response holds an invalid report" in error.message


@pytest.mark.parametrize("reply", [b"[" * 7_000, b"started", b"\xff", b'{"a": 1, "a": 2}'])
def test_an_answer_of_any_other_kind_is_a_yes(called: Called, reply: bytes) -> None:
    with receiver() as outside:
        outside.reply = reply
        assert start_http_job(called(outside.url)) is None


def test_without_a_token_nobody_is_called(called: Called) -> None:
    with receiver(202) as outside:
        error = failure(start_http_job(called(outside.url, token="")))
        assert outside.bodies == []
    assert (error.code, error.retryable) == ("LG-5656", False)
    assert "no task token could be signed" in error.message

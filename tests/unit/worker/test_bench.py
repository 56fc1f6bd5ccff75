"""An attempt ends with a report, whatever goes wrong on the way."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from lakeguard.worker.attempt import Ending
from lakeguard.worker.task_runner import TaskRunner
from lakeguard_sdk.client import Client, Worker
from lakeguard_sdk.model.run import RunTicket
from lakeguard_sdk.scheduling.tasks import TaskAnswer, TaskReport
from tests.support.projects.assignments import attempt_of


class Listening:
    """The dispatcher, as far as it listens."""

    def __init__(self) -> None:
        self.heard: list[TaskReport] = []

    def report(self, ticket: RunTicket, report: TaskReport) -> TaskAnswer:
        self.heard.append(report)
        given: dict[str, Any] = {
            "run_id": ticket.run_id,
            "task_id": ticket.task_id,
            "attempt": ticket.attempt,
            "status": "FAILED",
            "state": "failed",
            "error": report.error,
            "ended_at": "2026-01-31T00:00:00Z",
        }
        return TaskAnswer.model_validate(given)


def test_what_nobody_foresaw_is_a_failure_that_is_told() -> None:
    dispatch = Listening()
    nowhere = SimpleNamespace(dispatch=dispatch, lake="no place\0 at all", project="")
    ended = TaskRunner(cast(Client, nowhere), cast(Worker, None)).work(attempt_of())
    (report,) = dispatch.heard
    assert report.error is not None
    assert (report.success, report.error.code, report.error.retryable) == (False, "LG-0000", False)
    assert report.error.message == "ValueError", "its text may hold anything"
    assert ended.ending is Ending.FAILED

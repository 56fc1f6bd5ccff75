"""Running to the end: a retryable failure is tried again, a block never is."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from lakeguard.cli.terminal.progress import working
from lakeguard.services.run_task import BACKOFF, run_to_end
from lakeguard_sdk.core.enums import RunStatus, TaskKind, TaskState
from lakeguard_sdk.model.run import Failure, RunResult, Window
from lakeguard_sdk.scheduling.tasks import TaskRow
from tests.support.cases import models

BUSY = models.result(
    RunStatus.FAILED, error=Failure(code="LG-4001", message="busy", retryable=True)
)
BROKEN = models.result(RunStatus.FAILED, error=Failure(code="LG-5004", message="broken"))
TAKEN = models.result(RunStatus.FAILED, error=Failure(code="LG-4003", message="its lease is over"))
BLOCKED = models.result(RunStatus.BLOCKED, decision=models.decision(models.MEAN))
DONE = models.result(version=1)


class Tasks:
    """Operations and worker in one: a task with so many attempts and these results."""

    def __init__(self, results: Sequence[RunResult], attempts: int = 3) -> None:
        self.results = list(results)
        self.attempts = attempts
        self.pauses: list[float] = []
        self.notes: list[str] = []
        self.operations = self.jobs = self

    def submit(self, name: str, triggered_by: str, window: Window | None = None) -> str:
        self.window = window
        return "task_1"

    def run_task(self, task_id: str) -> RunResult:
        self.attempts -= 1
        return self.results.pop(0)

    def requeue(self, task_id: str) -> bool:
        return self.attempts > 0

    def task(self, task_id: str) -> TaskRow:
        return TaskRow(
            task_id=task_id,
            kind=TaskKind.BUILD,
            dedupe_key="x",
            state=TaskState.QUEUED,
            attempt=1,
            max_attempts=3,
            triggered_by="tests",
            created_at=models.NOW,
            priority=0,
        )

    def run(self) -> RunResult:
        return run_to_end(
            self,  # type: ignore[arg-type]
            self,
            models.FLIGHTS,
            "tests",
            sleep=self.pauses.append,
            note=self.notes.append,
        )


def test_a_busy_table_is_tried_again() -> None:
    tasks = Tasks([BUSY, BUSY, DONE])
    assert tasks.run() is DONE
    assert tasks.pauses == [0.5, 1.0]
    assert tasks.notes[0] == "silver.flights: LG-4001, retrying in 0.5 s"


def test_attempts_end() -> None:
    tasks = Tasks([BUSY, BUSY, BUSY])
    assert tasks.run() is BUSY
    assert len(tasks.pauses) == 2


def test_what_will_not_pass_by_itself_is_not_tried_again() -> None:
    for result in (BROKEN, BLOCKED, DONE):
        tasks = Tasks([result])
        assert tasks.run() is result
        assert tasks.pauses == []


def test_a_run_that_others_ended_names_the_task_that_goes_on() -> None:
    tasks = Tasks([TAKEN])
    assert tasks.run() is TAKEN
    assert tasks.notes == [
        "silver.flights: its task task_1 is now queued; to follow it: lakeguard tasks show task_1"
    ]


def test_pauses_stay_short() -> None:
    tasks = Tasks([BUSY] * 9 + [DONE], attempts=10)
    tasks.run()
    assert max(tasks.pauses) == BACKOFF.longest


def test_a_version_without_its_files_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with working("running bronze.orders") as tell:
        tell("deliver", {"what": "csv files"})
        facts = {"dataset": "gold.sales", "what": "csv files", "reason": "the disk is full"}
        tell("undelivered", facts)
    given = capsys.readouterr().err
    assert "gold.sales: published, but not delivered as its csv files: the disk is full" in given

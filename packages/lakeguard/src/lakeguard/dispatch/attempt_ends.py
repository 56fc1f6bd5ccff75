"""Ends of attempts that do not publish a table: one row each, with the response."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from lakeguard.dispatch.tasks import Task
from lakeguard.state import outbox
from lakeguard.state.schema import task_results
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import RunStatus, TaskKind, TaskState
from lakeguard_sdk.model.run import Failure
from lakeguard_sdk.scheduling.tasks import TaskAnswer

REPORTED_KINDS = (TaskKind.PYTHON, TaskKind.HTTP)
"""Task kinds whose attempts end with a report or are given up; others end in ``run_history``."""
UNREPORTED = ""
"""Placeholder hash for an attempt without a report."""


@dataclass(frozen=True)
class AttemptEnd:
    answer: TaskAnswer
    report_hash: str = UNREPORTED


def given_up(task: Task, state: TaskState, failure: Failure, at: datetime) -> AttemptEnd:
    """The end of an attempt without a report: lease expired or canceled."""
    if task.run_id is None:
        raise ValueError(f"task {task.task_id} has no attempt to end")
    return AttemptEnd(
        TaskAnswer(
            run_id=task.run_id,
            task_id=task.task_id,
            attempt=task.attempt,
            status=RunStatus.FAILED,
            state=state,
            error=failure,
            ended_at=at,
        )
    )


def record_ends(tx: Transaction, ends: Sequence[AttemptEnd], at: datetime) -> None:
    """Record ends in the transaction that changes the tasks' states; the database refuses a second
    end of an attempt."""
    outbox.record(tx, task_results, end_rows(tx.org_id, ends), at)


def end_rows(org_id: str, ends: Sequence[AttemptEnd]) -> list[dict[str, object]]:
    """Rows of ``task_results``."""
    return [_row(org_id, end) for end in ends]


def _row(org_id: str, end: AttemptEnd) -> dict[str, object]:
    answer, error = end.answer, end.answer.error
    return {
        "run_id": answer.run_id,
        "org_id": org_id,
        "task_id": answer.task_id,
        "attempt": answer.attempt,
        "status": answer.status.value,
        "error_code": error.code if error else None,
        "error_message": error.message if error else None,
        "ended_at": answer.ended_at,
        "report_hash": end.report_hash,
        "answer": answer.to_json(),
    }

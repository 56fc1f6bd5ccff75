"""The only place where a task changes state: transitions are checked, numbered and recorded.

queued ──► running ──► completed
  ▲  │        ├──────► blocked, dead ──► queued, by a manual retry
  │  └────────┼──────► canceled ───────► queued, by a manual retry
  └── failed ◄┘
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lakeguard.dispatch.task_row import Start, Task, worker_json
from lakeguard.ledger.notifications.emit_events import emit_transitions
from lakeguard.state import outbox
from lakeguard.state.bulk_writes import NumberedUpdate
from lakeguard.state.schema import task_transitions, tasks
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.errors import Fenced
from lakeguard_sdk.model.run import WorkerIdentity

_AGAIN = frozenset({TaskState.QUEUED})

ALLOWED: Mapping[TaskState | None, frozenset[TaskState]] = {
    None: frozenset({TaskState.QUEUED, TaskState.BLOCKED}),
    TaskState.QUEUED: frozenset({TaskState.RUNNING, TaskState.CANCELED, TaskState.BLOCKED}),
    TaskState.RUNNING: frozenset(
        {
            TaskState.COMPLETED,
            TaskState.FAILED,
            TaskState.BLOCKED,
            TaskState.CANCELED,
            TaskState.DEAD,
        }
    ),
    TaskState.FAILED: frozenset({TaskState.QUEUED, TaskState.DEAD, TaskState.CANCELED}),
    TaskState.BLOCKED: _AGAIN,
    TaskState.CANCELED: _AGAIN,
    TaskState.DEAD: _AGAIN,
    TaskState.COMPLETED: frozenset(),
}
"""Allowed transitions; None is the initial state."""

_CHANGING = (
    "state",
    "changes",
    "due_at",
    "run_id",
    "attempt",
    "lease_token",
    "lease_expires_at",
    "ended_at",
)


@dataclass(frozen=True)
class Holding:
    """The starting attempt's worker and lease."""

    run_id: str
    attempt: int
    lease_token: str
    lease_expires_at: datetime
    worker: WorkerIdentity


@dataclass(frozen=True)
class Change:
    """A task as read in this transaction, and its new state."""

    task: Task
    to: TaskState
    actor: str
    code: str | None = None
    message: str | None = None
    due_at: datetime | None = None
    """Earliest time of automatic action; None: never."""
    holding: Holding | None = None
    start: Start | None = None
    """For a queued task that a process starts itself."""


def change(
    tx: Transaction,
    changes: Sequence[Change],
    at: datetime,
    facts: Callable[[Sequence[Task]], Sequence[outbox.Fact]] = lambda _: (),
) -> list[Task]:
    """Apply all changes and return the tasks; raises ``Fenced`` and applies none on conflict.

    ``facts`` returns rows to record with them, given the changed tasks.
    """
    if not changes:
        return []
    after = [_after(each, at) for each in changes]
    update = NumberedUpdate(tasks, [_row(new) for new in after], "task_id", "changes")
    transitions = [_transition(each, new, at) for each, new in zip(changes, after, strict=True)]
    recorded = [(task_transitions, transitions), *facts(after)]
    if not outbox.record_with_update(tx, update, recorded, at):
        raise Fenced(run=changes[0].task.task_id, reason="somebody else changed the task")
    emit_transitions(tx, transitions)
    return after


def is_allowed(before: TaskState | None, to: TaskState) -> bool:
    return to in ALLOWED[before]


def _after(change: Change, at: datetime) -> Task:
    task = change.task
    if not is_allowed(task.state, change.to):
        raise Fenced(run=task.run_id or task.task_id, reason=f"it is {task.state}")
    new: dict[str, Any] = {
        "state": change.to,
        "changes": task.changes + 1,
        "due_at": change.due_at,
        "ended_at": at if change.to is TaskState.COMPLETED else None,
    }
    if change.holding is not None:
        new |= vars(change.holding)
    if change.start is not None:
        new |= {"worker": change.start.process, "lease_expires_at": change.start.until}
    return task.model_copy(update=new)


def _row(after: Task) -> dict[str, Any]:
    worker = after.worker
    return {
        "task_id": after.task_id,
        "worker": None if worker is None else worker_json(worker),
        **{name: getattr(after, name) for name in _CHANGING},
    }


def _transition(change: Change, after: Task, at: datetime) -> dict[str, Any]:
    return {
        "task_id": after.task_id,
        "number": after.changes,
        "org_id": after.org_id,
        "attempt": after.attempt,
        "from_state": change.task.state.value,
        "to_state": after.state.value,
        "at": at,
        "actor": change.actor,
        "code": change.code,
        "message": change.message,
        "due_at": change.due_at,
    }

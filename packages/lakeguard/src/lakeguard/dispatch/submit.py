"""Creates tasks: one per (dataset or job, key), idempotently."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lakeguard.dispatch.task_changes import is_allowed
from lakeguard.dispatch.task_row import Start
from lakeguard.ledger.notifications.emit_events import emit_transitions
from lakeguard.state import outbox
from lakeguard.state.bulk_writes import insert_new
from lakeguard.state.schema import task_transitions, tasks
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import TaskKind, TaskState
from lakeguard_sdk.core.ids import new_id

_SAME = ("org_id", "dataset_id", "dedupe_key")


@dataclass(frozen=True)
class NewTask:
    kind: TaskKind
    subject: str
    """The dataset that it builds, else the job."""
    key: str | None
    """None: not idempotent."""
    parameters: str
    triggered_by: str
    attempts: int
    actor: str
    due_at: datetime | None = None
    """When workers may claim it; None with ``start``."""
    start: Start | None = None
    job_id: str | None = None
    priority: int = 0
    labels: tuple[str, ...] = ()
    dag_version_id: str | None = None
    cause: str | None = None
    state: TaskState = TaskState.QUEUED
    """BLOCKED if a gate refused it; ``code`` and ``message`` give the reason."""
    code: str | None = None
    message: str | None = None


def submit_all(tx: Transaction, wanted: Sequence[NewTask], at: datetime) -> list[str | None]:
    """The id of each new task; None if its key exists.

    Among tasks due at the same time, the first given starts first.
    """
    ids = sorted(new_id("task") for _ in wanted)
    rows = [_row(tx.org_id, task_id, each, at) for task_id, each in zip(ids, wanted, strict=True)]
    added = insert_new(tx, tasks, rows, _SAME, "task_id")
    new = [row if row["task_id"] in added else None for row in rows]
    outbox.enqueue(tx, tasks, [row for row in new if row], at)
    first = [_first(row, each, at) for row, each in zip(new, wanted, strict=True) if row]
    outbox.record(tx, task_transitions, first, at)
    emit_transitions(tx, first)
    return [row["task_id"] if row else None for row in new]


def _row(org_id: str, task_id: str, wanted: NewTask, at: datetime) -> dict[str, Any]:
    if not is_allowed(None, wanted.state):
        raise ValueError(f"no task begins as {wanted.state}")
    return {
        "task_id": task_id,
        "org_id": org_id,
        "kind": wanted.kind.value,
        "dataset_id": wanted.subject,
        "dedupe_key": wanted.key or task_id,
        "parameters": wanted.parameters,
        "triggered_by": wanted.triggered_by,
        "created_at": at,
        "max_attempts": wanted.attempts,
        "state": wanted.state.value,
        "attempt": 0,
        "worker": None if wanted.start is None else wanted.start.process.to_json(),
        "lease_expires_at": None if wanted.start is None else wanted.start.until,
        "job_id": wanted.job_id,
        "due_at": wanted.due_at,
        "priority": wanted.priority,
        "labels": " ".join(sorted(set(wanted.labels))),
        "dag_version_id": wanted.dag_version_id,
        "cause": wanted.cause,
        "changes": 1,
    }


def _first(row: dict[str, Any], wanted: NewTask, at: datetime) -> dict[str, Any]:
    return {
        "task_id": row["task_id"],
        "number": 1,
        "org_id": row["org_id"],
        "attempt": 0,
        "from_state": None,
        "to_state": row["state"],
        "at": at,
        "actor": wanted.actor,
        "code": wanted.code,
        "message": wanted.message,
        "due_at": wanted.due_at,
    }

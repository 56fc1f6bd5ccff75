"""Retries: backoff, dead tasks and manual retries."""

from __future__ import annotations

import random
from datetime import datetime, timedelta

from sqlalchemy import or_, select

from lakeguard.dispatch.task_changes import Change, change
from lakeguard.dispatch.task_row import Task, task_from
from lakeguard.settings.settings import DispatchSettings
from lakeguard.state.clock import CLOCK_SLACK
from lakeguard.state.schema import tasks
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.backoff import Backoff, jitter
from lakeguard_sdk.core.enums import QUEUED_KINDS, RunStatus, TaskKind, TaskState
from lakeguard_sdk.errors import Fenced, NotRetryable
from lakeguard_sdk.model.run import Failure

_ENDED = {RunStatus.SUCCESS: TaskState.COMPLETED, RunStatus.BLOCKED: TaskState.BLOCKED}
_MOST_AT_ONCE = 1000


def ended_as(
    task: Task,
    status: RunStatus,
    failure: Failure | None,
    at: datetime,
    rules: DispatchSettings,
) -> tuple[TaskState, datetime | None]:
    """The task state after an attempt's end, and the time of the next attempt, if any."""
    if status in _ENDED:
        return _ENDED[status], None
    if task.kind not in QUEUED_KINDS or failure is None or not may_pass(failure):
        return TaskState.FAILED, None
    if task.attempt >= task.max_attempts:
        return TaskState.DEAD, None
    if task.kind is TaskKind.BUILD and task.cause is None:
        # A run that somebody started: its process retries it, a worker would publish it unasked.
        return TaskState.FAILED, None
    return TaskState.FAILED, at + pause(task.attempt, rules, random.random())  # noqa: S311 - spreads load


def may_pass(failure: Failure) -> bool:
    """A lost lease or dead process is retryable."""
    return failure.retryable or failure.code == Fenced.code


def pause(attempt: int, rules: DispatchSettings, luck: float) -> timedelta:
    """Exponential backoff with a maximum; ``luck`` adds jitter between half and all of it."""
    backoff = Backoff(rules.backoff_first_seconds, rules.backoff_longest_seconds)
    return timedelta(seconds=jitter(backoff.after(attempt), lambda: luck))


def too_far(at: datetime, rules: DispatchSettings) -> datetime:
    """No backoff lasts until then: a later time was computed by a clock that was ahead."""
    return at + timedelta(seconds=rules.backoff_longest_seconds) + CLOCK_SLACK


def queue_due_retries(tx: Transaction, actor: str, rules: DispatchSettings) -> list[Task]:
    """Queue failed tasks whose retry is due, skipping those another dispatcher handles.

    What waits for a time that is too far away is due.
    """
    at = tx.now()
    due = (
        select(tasks)
        .where(
            tasks.c.org_id == tx.org_id,
            tasks.c.state == TaskState.FAILED.value,
            or_(tasks.c.due_at <= at, tasks.c.due_at > too_far(at, rules)),
        )
        .order_by(tasks.c.due_at)
        .limit(_MOST_AT_ONCE)
        .with_for_update(skip_locked=True)
    )
    found = [task_from(row) for row in tx.execute(due)]
    queued = [Change(task, TaskState.QUEUED, actor, due_at=at) for task in found]
    return change(tx, queued, at)


def require_retryable(task: Task) -> None:
    """Raises ``NotRetryable`` for open or completed tasks, and for kinds outside the queue."""
    if task.kind not in QUEUED_KINDS:
        reason = f"it is of kind {task.kind}, which is asked for anew"
        raise NotRetryable(task=task.task_id, reason=reason)
    if task.state in (TaskState.QUEUED, TaskState.RUNNING, TaskState.COMPLETED):
        raise NotRetryable(task=task.task_id, reason=f"it is {task.state}")


def retry_task(tx: Transaction, task: Task, reason: str) -> Task:
    """Queue one more attempt, even beyond the automatic ones."""
    at = tx.now()
    require_retryable(task)
    again = Change(task, TaskState.QUEUED, tx.actor, message=reason or None, due_at=at)
    return change(tx, [again], at)[0]

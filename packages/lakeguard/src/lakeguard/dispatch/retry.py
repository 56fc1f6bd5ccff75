"""What a failure comes to: another attempt after a pause, an end, or a person's word."""

from __future__ import annotations

import random
from datetime import datetime, timedelta

from sqlalchemy import select

from lakeguard.dispatch.task_changes import Change, change
from lakeguard.dispatch.task_row import Task, task_from
from lakeguard.settings.settings import DispatchSettings
from lakeguard.state.schema import tasks
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.backoff import Backoff, jitter
from lakeguard_sdk.core.enums import QUEUED_KINDS, RunStatus, TaskState
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
    """The state that the end of an attempt leads to, and when it is tried again, if ever."""
    if status in _ENDED:
        return _ENDED[status], None
    if task.kind not in QUEUED_KINDS or failure is None or not may_pass(failure):
        return TaskState.FAILED, None
    if task.attempt >= task.max_attempts:
        return TaskState.DEAD, None
    return TaskState.FAILED, at + pause(task.attempt, rules, random.random())  # noqa: S311 - spreads load


def may_pass(failure: Failure) -> bool:
    """Who lost his lease, or whose process is gone, says nothing against the next attempt."""
    return failure.retryable or failure.code == Fenced.code


def pause(attempt: int, rules: DispatchSettings, luck: float) -> timedelta:
    """Doubles with each attempt up to the longest; between half of that and all, by ``luck``."""
    backoff = Backoff(rules.backoff_first_seconds, rules.backoff_longest_seconds)
    return timedelta(seconds=jitter(backoff.after(attempt), lambda: luck))


def queue_due_retries(tx: Transaction, actor: str) -> list[Task]:
    """Failed tasks whose time has come are queued; what another dispatcher queues is left to it."""
    at = tx.now()
    due = (
        select(tasks)
        .where(
            tasks.c.org_id == tx.org_id,
            tasks.c.state == TaskState.FAILED.value,
            tasks.c.due_at <= at,
        )
        .order_by(tasks.c.due_at)
        .limit(_MOST_AT_ONCE)
        .with_for_update(skip_locked=True)
    )
    found = [task_from(row) for row in tx.execute(due)]
    queued = [Change(task, TaskState.QUEUED, actor, due_at=at) for task in found]
    return change(tx, queued, at)


def require_retryable(task: Task) -> None:
    """``NotRetryable`` for what waits or runs anyway, is done, or is no matter of the queue."""
    if task.kind not in QUEUED_KINDS:
        said = f"it is of kind {task.kind}, which is asked for anew"
        raise NotRetryable(task=task.task_id, reason=said)
    if task.state in (TaskState.QUEUED, TaskState.RUNNING, TaskState.COMPLETED):
        raise NotRetryable(task=task.task_id, reason=f"it is {task.state}")


def retry_task(tx: Transaction, task: Task, reason: str) -> Task:
    """Queued for one more attempt, also beyond those that it has by itself."""
    at = tx.now()
    require_retryable(task)
    again = Change(task, TaskState.QUEUED, tx.actor, message=reason or None, due_at=at)
    return change(tx, [again], at)[0]

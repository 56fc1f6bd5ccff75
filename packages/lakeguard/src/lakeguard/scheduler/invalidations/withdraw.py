"""Withdraws an invalidation and cancels the tasks that only it needs."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select

from lakeguard.dispatch.task_changes import Change, change
from lakeguard.dispatch.task_list import not_over
from lakeguard.dispatch.task_row import Task, find_task
from lakeguard.ledger.invalidations import (
    Invalidation,
    open_invalidations,
    record_end,
    require_invalidation,
)
from lakeguard.promotion.context import PlaneContext
from lakeguard.scheduler.invalidations.reconcile import launched_for_some
from lakeguard.state.locks import hold
from lakeguard.state.schema import tasks
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.errors import (
    InvalidationOver,
    SecretInReason,
    TaskCanceled,
    WithdrawalReasonNeeded,
)
from lakeguard_sdk.scheduling.invalidations import End
from lakeguard_sdk.scheduling.tasks import Cause
from lakeguard_sdk.security.secret_values import holds_secret


@dataclass(frozen=True)
class Withdrawn:
    invalidation: Invalidation
    canceled: tuple[str, ...]
    """Canceled tasks."""


def withdraw(context: PlaneContext, invalidation_id: str, why: str) -> Withdrawn:
    """Withdraw an invalidation; versions built for it stay.

    Queued tasks that only it needs are canceled in the same transaction; running ones continue.
    """
    if not why.strip():
        raise WithdrawalReasonNeeded(invalidation=invalidation_id[:80])
    if holds_secret(why):
        raise SecretInReason()
    with context.write() as tx:
        hold(tx, f"invalidations:{tx.org_id}")
        found, ended = require_invalidation(tx, invalidation_id)
        if ended is not None:
            at = f"{ended.ended_at:%Y-%m-%dT%H:%M:%SZ}"
            raise InvalidationOver(invalidation=invalidation_id, end=ended.end, ended_at=at)
        record_end(tx, invalidation_id, End.WITHDRAWN, actor=tx.actor, reason=why)
        return Withdrawn(found, _cancel_waiting(tx, invalidation_id, why))


def left_over(tx: Transaction, invalidation_id: str) -> list[str]:
    """Open tasks launched for this invalidation and no other open one."""
    query = (
        select(tasks.c.task_id, tasks.c.cause)
        .where(tasks.c.org_id == tx.org_id, launched_for_some(), not_over())
        .order_by(tasks.c.task_id)
    )
    asked = {row.task_id: _asked(row.cause) for row in tx.execute(query)}
    if not any(invalidation_id in some for some in asked.values()):
        return []
    others = {one.invalidation_id for one in open_invalidations(tx)}
    others.discard(invalidation_id)
    return [key for key, some in asked.items() if invalidation_id in some and not some & others]


def _asked(cause: str | None) -> set[str]:
    return set() if cause is None else set(Cause.from_json(cause).details.get("invalidations", ()))


def _cancel_waiting(tx: Transaction, invalidation_id: str, why: str) -> tuple[str, ...]:
    """Lock the tasks against concurrent claims."""
    message = f"invalidation {invalidation_id} was withdrawn: {why}"
    found = [find_task(tx, task_id) for task_id in left_over(tx, invalidation_id)]
    waiting = [task for task in found if task is not None and _waits(task)]
    changes = [
        Change(task, TaskState.CANCELED, tx.actor, code=TaskCanceled.code, message=message)
        for task in waiting
    ]
    change(tx, changes, tx.now())
    return tuple(task.task_id for task in waiting)


def _waits(task: Task) -> bool:
    again = task.state is TaskState.FAILED and task.due_at is not None
    return again or task.state is TaskState.QUEUED

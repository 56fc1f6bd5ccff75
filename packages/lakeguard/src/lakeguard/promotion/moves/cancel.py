"""Cancellation: queued tasks are withdrawn, running ones are fenced."""

from __future__ import annotations

from collections.abc import Callable

from lakeguard.dispatch.attempt_ends import REPORTED_KINDS
from lakeguard.dispatch.leases import end_canceled
from lakeguard.dispatch.task_changes import Change, change, is_allowed
from lakeguard.dispatch.task_list import require_task
from lakeguard.dispatch.task_row import Task
from lakeguard.ledger.left_graphs import graph_lock, left_graphs
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.moves.reap import end_move, end_without_move
from lakeguard.state.locks import hold_shared
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.errors import GraphRolledBack, NotCancelable, TaskCanceled
from lakeguard_sdk.model.run import Failure, Intent, RunResult
from lakeguard_sdk.storage.fault_points import reached

MOST_ROUNDS = 5
"""Retries for a build that starts another attempt meanwhile."""

_LockedTask = tuple[Task, Failure]
"""A locked task, and why it is canceled."""


class _GraphStillActive(Exception):
    pass


def cancel_task(
    context: PlaneContext, task_id: str, actor: str, code: str | None, reason: str
) -> Task:
    """Cancel a task and return it; a committed or ended attempt wins. Idempotent.

    A move in progress is fenced on its table: the first commit decides.
    """
    failure = Failure(code=code or TaskCanceled.code, message=reason or f"{actor} canceled it")

    def locked(tx: Transaction) -> _LockedTask:
        return require_task(tx, task_id), failure

    return _cancel(context, task_id, actor, locked)


def cancel_left(context: PlaneContext, task_id: str) -> Task | None:
    """Like ``cancel_task``, if the task's graph was abandoned; else None.

    A concurrent redeployment waits, or is seen. For a move in progress the fence decides, even if
    the graph was redeployed before it landed.
    """

    def locked(tx: Transaction) -> _LockedTask:
        hold_shared(tx, graph_lock(tx.org_id))
        task = require_task(tx, task_id)
        among = set() if task.dag_version_id is None else {task.dag_version_id}
        for active in left_graphs(tx, among).values():
            return task, Failure(
                code=GraphRolledBack.code, message=str(GraphRolledBack(version=active))
            )
        raise _GraphStillActive

    try:
        return _cancel(context, task_id, context.actor, locked)
    except _GraphStillActive:
        return None


def _cancel(
    context: PlaneContext, task_id: str, actor: str, locked: Callable[[Transaction], _LockedTask]
) -> Task:
    for _ in range(MOST_ROUNDS):
        with context.write() as tx:
            task, failure = locked(tx)
            ended = _end(tx, context, task, failure, actor)
        if isinstance(ended, Task):
            return ended
        reached("task.canceling")
        if isinstance(ended, Intent):
            end_move(context, ended, failure, canceled=True)
        with context.read() as tx:
            task = require_task(tx, task_id)
        if not is_allowed(task.state, TaskState.CANCELED):  # as for a canceled task
            return task
    raise NotCancelable(task=task_id, state=task.state)


def _end(
    tx: Transaction, context: PlaneContext, task: Task, failure: Failure, actor: str
) -> Task | RunResult | Intent:
    """The canceled task; for a running build its end, or the open intent."""
    if task.state is TaskState.CANCELED:
        return task
    if not is_allowed(task.state, TaskState.CANCELED):
        raise NotCancelable(task=task.task_id, state=task.state)
    if task.state is not TaskState.RUNNING:
        withdrawn = Change(
            task, TaskState.CANCELED, actor, code=failure.code, message=failure.message
        )
        return change(tx, [withdrawn], tx.now())[0]
    if task.kind in REPORTED_KINDS:
        return end_canceled(tx, task, failure, actor=actor)
    return end_without_move(tx, context, task, failure, canceled=True)

"""Canceling: what waits is withdrawn, what runs can never publish any more."""

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
from lakeguard_sdk.errors import GraphLeft, NotCancelable, TaskCanceled
from lakeguard_sdk.model.run import Failure, Intent, RunResult
from lakeguard_sdk.storage.fault_points import reached

MOST_ROUNDS = 5
"""So often a build that began another attempt meanwhile is canceled anew."""

_Held = tuple[Task, Failure]
"""A task that nobody else changes now, and why it is canceled."""


class _LeftNoMore(Exception):
    pass


def cancel_task(
    context: PlaneContext, task_id: str, actor: str, code: str | None, reason: str
) -> Task:
    """The task as it is then: canceled, unless its commit stood already or its last attempt ended
    by itself; asked again, the same.

    A move that is under way is fenced on its table: whoever comes first decides.
    """
    said = Failure(code=code or TaskCanceled.code, message=reason or f"{actor} canceled it")

    def held(tx: Transaction) -> _Held:
        return require_task(tx, task_id), said

    return _cancel(context, task_id, actor, held)


def cancel_left(context: PlaneContext, task_id: str) -> Task | None:
    """As ``cancel_task``, if the task is of a graph that was left; else None, and it goes on.

    Whoever deploys that graph again meanwhile waits, or is seen. Only where a move is under way
    the fence on its table has the last word: it stands even if the graph came back before it did.
    """

    def held(tx: Transaction) -> _Held:
        hold_shared(tx, graph_lock(tx.org_id))
        task = require_task(tx, task_id)
        among = set() if task.dag_version_id is None else {task.dag_version_id}
        for active in left_graphs(tx, among).values():
            return task, Failure(code=GraphLeft.code, message=str(GraphLeft(version=active)))
        raise _LeftNoMore

    try:
        return _cancel(context, task_id, context.actor, held)
    except _LeftNoMore:
        return None


def _cancel(
    context: PlaneContext, task_id: str, actor: str, held: Callable[[Transaction], _Held]
) -> Task:
    for _ in range(MOST_ROUNDS):
        with context.write() as tx:
            task, said = held(tx)
            ended = _end(tx, context, task, said, actor)
        if isinstance(ended, Task):
            return ended
        reached("task.canceling")
        if isinstance(ended, Intent):
            end_move(context, ended, said, canceled=True)
        with context.read() as tx:
            task = require_task(tx, task_id)
        if not is_allowed(task.state, TaskState.CANCELED):  # as of one that is canceled
            return task
    raise NotCancelable(task=task_id, state=task.state)


def _end(
    tx: Transaction, context: PlaneContext, task: Task, said: Failure, actor: str
) -> Task | RunResult | Intent:
    """The task, canceled; of a build that runs its end, or the move that keeps it from ending."""
    if task.state is TaskState.CANCELED:
        return task
    if not is_allowed(task.state, TaskState.CANCELED):
        raise NotCancelable(task=task.task_id, state=task.state)
    if task.state is not TaskState.RUNNING:
        withdrawn = Change(task, TaskState.CANCELED, actor, code=said.code, message=said.message)
        return change(tx, [withdrawn], tx.now())[0]
    if task.kind in REPORTED_KINDS:
        return end_canceled(tx, task, said, actor=actor)
    return end_without_move(tx, context, task, said, canceled=True)

"""Canceling: what waits is withdrawn, what runs can never publish any more."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection

from lakeguard.dispatch.attempt_ends import REPORTED_KINDS
from lakeguard.dispatch.leases import end_canceled
from lakeguard.dispatch.task_changes import Change, change, is_allowed
from lakeguard.dispatch.task_list import require_task
from lakeguard.dispatch.task_row import Task
from lakeguard.ledger.left_graphs import graph_lock, left_graphs
from lakeguard.promotion.context import Heart
from lakeguard.promotion.moves.reap import end_move, end_without_move
from lakeguard.state.locks import hold_shared
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


def cancel_task(heart: Heart, task_id: str, actor: str, code: str | None, reason: str) -> Task:
    """The task as it is then: canceled, unless its commit stood already or its last attempt ended
    by itself; asked again, the same.

    A move that is under way is fenced on its table: whoever comes first decides.
    """
    said = Failure(code=code or TaskCanceled.code, message=reason or f"{actor} canceled it")

    def held(connection: Connection) -> _Held:
        return require_task(connection, heart.org_id, task_id), said

    return _cancel(heart, task_id, actor, held)


def cancel_left(heart: Heart, task_id: str) -> Task | None:
    """As ``cancel_task``, if the task is of a graph that was left; else None, and it goes on.

    Whoever deploys that graph again meanwhile waits, or is seen. Only where a move is under way
    the fence on its table has the last word: it stands even if the graph came back before it did.
    """

    def held(connection: Connection) -> _Held:
        hold_shared(connection, graph_lock(heart.org_id))
        task = require_task(connection, heart.org_id, task_id)
        among = set() if task.dag_version_id is None else {task.dag_version_id}
        for active in left_graphs(connection, heart.org_id, among).values():
            return task, Failure(code=GraphLeft.code, message=str(GraphLeft(version=active)))
        raise _LeftNoMore

    try:
        return _cancel(heart, task_id, heart.actor, held)
    except _LeftNoMore:
        return None


def _cancel(heart: Heart, task_id: str, actor: str, held: Callable[[Connection], _Held]) -> Task:
    for _ in range(MOST_ROUNDS):
        with heart.database.write() as connection:
            task, said = held(connection)
            ended = _end(connection, heart, task, said, actor)
        if isinstance(ended, Task):
            return ended
        reached("task.canceling")
        if isinstance(ended, Intent):
            end_move(heart, ended, said, canceled=True)
        with heart.database.read() as connection:
            task = require_task(connection, heart.org_id, task_id)
        if not is_allowed(task.state, TaskState.CANCELED):  # as of one that is canceled
            return task
    raise NotCancelable(task=task_id, state=task.state)


def _end(
    connection: Connection, heart: Heart, task: Task, said: Failure, actor: str
) -> Task | RunResult | Intent:
    """The task, canceled; of a build that runs its end, or the move that keeps it from ending."""
    if task.state is TaskState.CANCELED:
        return task
    if not is_allowed(task.state, TaskState.CANCELED):
        raise NotCancelable(task=task.task_id, state=task.state)
    if task.state is not TaskState.RUNNING:
        withdrawn = Change(task, TaskState.CANCELED, actor, code=said.code, message=said.message)
        return change(connection, [withdrawn], heart.clock())[0]
    if task.kind in REPORTED_KINDS:
        return end_canceled(connection, task, said, actor=actor, at=heart.clock())
    return end_without_move(connection, heart, task, said, canceled=True)

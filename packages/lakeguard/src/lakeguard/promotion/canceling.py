"""Canceling: what waits is withdrawn, what runs can never publish any more."""

from __future__ import annotations

from lakeguard.dispatch.attempt_ends import REPORTED_KINDS
from lakeguard.dispatch.changes import Change, change, is_allowed
from lakeguard.dispatch.lapsing import end_canceled
from lakeguard.dispatch.listing import require_task
from lakeguard.dispatch.task import Task
from lakeguard.promotion.heart import Heart
from lakeguard.promotion.reaping import end_move, end_without_move
from lakeguard_sdk.faultpoints import reached
from lakeguard_sdk.run import Failure, Intent
from lakeguard_sdk.task_errors import NotCancelable, TaskCanceled
from lakeguard_sdk.words import TaskState


def cancel_task(heart: Heart, task_id: str, actor: str, code: str | None, reason: str) -> Task:
    """The task as it is then: canceled, unless its commit stood already; asked again, the same.

    A move that is under way is fenced on its table: whoever comes first decides.
    """
    with heart.database.write() as connection:
        task = require_task(connection, heart.org_id, task_id)
        if task.state is TaskState.CANCELED:
            return task
        if not is_allowed(task.state, TaskState.CANCELED):
            raise NotCancelable(task=task_id, state=task.state)
        said = Failure(code=code or TaskCanceled.code, message=reason or f"{actor} canceled it")
        if task.state is not TaskState.RUNNING:
            withdrawn = Change(
                task, TaskState.CANCELED, actor, code=said.code, message=said.message
            )
            return change(connection, [withdrawn], heart.clock())[0]
        if task.kind in REPORTED_KINDS:
            return end_canceled(connection, task, said, actor=actor, at=heart.clock())
        ended = end_without_move(connection, heart, task, said, canceled=True)
    reached("task.canceling")
    if isinstance(ended, Intent):
        end_move(heart, ended, said, canceled=True)
    with heart.database.read() as connection:
        return require_task(connection, heart.org_id, task_id)

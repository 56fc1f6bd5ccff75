"""Attempts that nobody goes on with: their lease is over, or their process is gone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, select

from lakeguard.dispatch.attempt_ends import REPORTED_KINDS, given_up, record_ends
from lakeguard.dispatch.changes import Change, change
from lakeguard.dispatch.leases import is_outside
from lakeguard.dispatch.retrying import ended_as
from lakeguard.dispatch.task import Task, task_from
from lakeguard.dispatch.tasks import lease_over
from lakeguard.settings.dispatch import DispatchSettings
from lakeguard.state.pieces import in_pieces
from lakeguard.state.tables import tasks
from lakeguard_sdk.errors import Fenced, ReportOverdue
from lakeguard_sdk.processes import is_gone
from lakeguard_sdk.run import Failure, failure_of
from lakeguard_sdk.words import RunStatus, TaskState


def cause_of_death(task: Task, at: datetime) -> str | None:
    if task.worker is not None and is_gone(task.worker):
        return f"its process {task.worker.pid} on {task.worker.host} is gone"
    return "its lease is over" if lease_over(task, at) else None


def end_lapsed(
    connection: Connection, org_id: str, *, actor: str, at: datetime, rules: DispatchSettings
) -> list[Task]:
    """End all attempts that would end by a report and never will. What is being reported at this
    very moment is left to its report."""
    ended: list[tuple[Task, Failure]] = []
    seen = find_lapsed(connection, org_id, at)
    for piece in in_pieces(seen):
        some = tasks.c.task_id.in_(piece)
        held = _reported(org_id).where(some).with_for_update(skip_locked=True)
        for task, reason in _lapsed(connection, held, at):
            ended.append((task, _failure(task, reason)))
    return _end(connection, ended, actor, at, rules)


def _failure(task: Task, reason: str) -> Failure:
    """Who was handed an attempt has no lease to keep, but the time of the job."""
    if is_outside(task):
        return failure_of(ReportOverdue(run=task.run_id))
    return failure_of(Fenced(run=task.run_id, reason=reason))


def find_lapsed(connection: Connection, org_id: str, at: datetime) -> list[str]:
    """Tasks whose attempt looks dead. Nobody is locked: who is alive waits for no look."""
    return [task.task_id for task, _ in _lapsed(connection, _reported(org_id), at)]


def _lapsed(connection: Connection, query: Select[Any], at: datetime) -> Iterator[tuple[Task, str]]:
    for row in connection.execute(query):
        task = task_from(row)
        reason = cause_of_death(task, at)
        if reason is not None:
            yield task, reason


def _reported(org_id: str) -> Select[Any]:
    """Attempts under way that end by a report."""
    return (
        select(tasks)
        .where(
            tasks.c.org_id == org_id,
            tasks.c.state == TaskState.RUNNING.value,
            tasks.c.kind.in_([kind.value for kind in REPORTED_KINDS]),
        )
        .order_by(tasks.c.task_id)
    )


def end_canceled(
    connection: Connection, task: Task, failure: Failure, *, actor: str, at: datetime
) -> Task:
    """End an attempt that would have reported; its report comes too late from now on."""
    (canceled,) = change(
        connection,
        [Change(task, TaskState.CANCELED, actor, code=failure.code, message=failure.message)],
        at,
    )
    record_ends(connection, task.org_id, [given_up(task, canceled.state, failure, at)], at)
    return canceled


def _end(
    connection: Connection,
    ended: Sequence[tuple[Task, Failure]],
    actor: str,
    at: datetime,
    rules: DispatchSettings,
) -> list[Task]:
    changes = []
    for task, failure in ended:
        state, due_at = ended_as(task, RunStatus.FAILED, failure, at, rules)
        changes.append(Change(task, state, actor, failure.code, failure.message, due_at))
    after = change(connection, changes, at)
    ends = [
        given_up(task, new.state, failure, at)
        for (task, failure), new in zip(ended, after, strict=True)
    ]
    if ended:
        record_ends(connection, ended[0][0].org_id, ends, at)
    return after

"""Leases: how long an attempt may be silent, for as many attempts at once as a worker has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection, select, update

from lakeguard.dispatch.task import Task, task_from
from lakeguard.dispatch.tasks import lease_over, require, ticket_of
from lakeguard.dispatch.terms import terms_of
from lakeguard.state.tables import task_attempts, tasks
from lakeguard_sdk.errors import Fenced, NotHandedOver
from lakeguard_sdk.job import JobControls
from lakeguard_sdk.run import RunTicket, WorkerIdentity
from lakeguard_sdk.words import TaskKind, TaskState

OUTSIDE = "outside"
"""The host, by name, of who goes on with what was handed over."""
_NO_PROCESS = 0
"""The number that no process has, on any machine."""


def keep(
    connection: Connection,
    org_id: str,
    tickets: Sequence[RunTicket],
    clock: Callable[[], datetime],
    lease: timedelta,
) -> dict[str, float]:
    """Seconds from now by run; an attempt that is over, or whose lease is, is not among them.

    Now is when all of them are held: a lease that ran out while others held them is not revived.
    No lease becomes shorter. What was handed over has the time of its job, and never more.
    """
    held = (
        select(tasks)
        .where(
            tasks.c.org_id == org_id,
            tasks.c.task_id.in_(sorted({ticket.task_id for ticket in tickets})),
            tasks.c.state == TaskState.RUNNING.value,
        )
        .order_by(tasks.c.task_id)
        .with_for_update()
    )
    known = set(tickets)
    found = [task_from(row) for row in connection.execute(held)]
    at = clock()
    alive = [task for task in found if ticket_of(task) in known and not lease_over(task, at)]
    until = at + lease
    longer = [task.task_id for task in alive if _until(task) < until and not is_outside(task)]
    connection.execute(
        update(tasks)
        .where(tasks.c.org_id == org_id, tasks.c.task_id.in_(longer))
        .values(lease_expires_at=until)
    )
    return {
        str(task.run_id): ((until if task.task_id in longer else _until(task)) - at).total_seconds()
        for task in alive
    }


def hand_over(
    connection: Connection, org_id: str, ticket: RunTicket, clock: Callable[[], datetime]
) -> None:
    """Somebody outside goes on with it, until the time of its job is over."""
    task = require(connection, org_id, ticket)
    if task.kind is not TaskKind.HTTP:
        raise NotHandedOver(run=ticket.run_id, kind=task.kind)
    if lease_over(task, clock()):
        raise Fenced(run=ticket.run_id, reason="its lease is over")
    begun = connection.execute(
        select(task_attempts.c.started_at, task_attempts.c.config_hash).where(
            task_attempts.c.org_id == org_id, task_attempts.c.run_id == ticket.run_id
        )
    ).one()
    terms = terms_of(connection, org_id, {begun.config_hash} - {None})
    controls = terms[begun.config_hash].controls if terms else JobControls()
    name = task.worker.name if task.worker else OUTSIDE
    outside = WorkerIdentity(name=name, host=OUTSIDE, pid=_NO_PROCESS, process_mark="")
    connection.execute(
        update(tasks)
        .where(tasks.c.org_id == org_id, tasks.c.task_id == task.task_id)
        .values(
            lease_expires_at=begun.started_at + timedelta(seconds=controls.timeout_seconds),
            worker=outside.to_json(),
        )
    )


def is_outside(task: Task) -> bool:
    """Whether the attempt was handed over."""
    return task.worker is not None and task.worker.pid == _NO_PROCESS


def _until(task: Task) -> datetime:
    if task.lease_expires_at is None:
        raise ValueError(f"task {task.task_id} has no lease")
    return task.lease_expires_at

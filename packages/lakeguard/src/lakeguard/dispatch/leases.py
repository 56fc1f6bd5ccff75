"""Leases: how long an attempt may be silent, for as many attempts at once as a worker has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, select, update

from lakeguard.dispatch.attempt_ends import REPORTED_KINDS, given_up, record_ends
from lakeguard.dispatch.retry import ended_as
from lakeguard.dispatch.task_changes import Change, change
from lakeguard.dispatch.task_row import Task, task_from
from lakeguard.dispatch.tasks import lease_over, require, ticket_of
from lakeguard.dispatch.terms import terms_of
from lakeguard.settings.settings import DispatchSettings
from lakeguard.state.bulk_writes import in_pieces
from lakeguard.state.schema import task_attempts, tasks
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import RunStatus, TaskKind, TaskState
from lakeguard_sdk.errors import Fenced, NotHandedOver, ReportOverdue
from lakeguard_sdk.model.run import Failure, RunTicket, WorkerIdentity, failure_of
from lakeguard_sdk.scheduling.jobs import JobControls
from lakeguard_sdk.scheduling.process_identity import is_gone

OUTSIDE = "outside"
"""The host, by name, of who goes on with what was handed over."""
_NO_PROCESS = 0
"""The number that no process has, on any machine."""


def keep(tx: Transaction, tickets: Sequence[RunTicket], lease: timedelta) -> dict[str, float]:
    """Seconds from now by run; an attempt that is over, or whose lease is, is not among them.

    Now is when all of them are held: a lease that ran out while others held them is not revived.
    No lease becomes shorter. What was handed over has the time of its job, and never more.
    """
    held = (
        select(tasks)
        .where(
            tasks.c.org_id == tx.org_id,
            tasks.c.task_id.in_(sorted({ticket.task_id for ticket in tickets})),
            tasks.c.state == TaskState.RUNNING.value,
        )
        .order_by(tasks.c.task_id)
        .with_for_update()
    )
    known = set(tickets)
    found = [task_from(row) for row in tx.execute(held)]
    at = tx.now()
    alive = [task for task in found if ticket_of(task) in known and not lease_over(task, at)]
    until = at + lease
    longer = [task.task_id for task in alive if _until(task) < until and not is_outside(task)]
    tx.execute(
        update(tasks)
        .where(tasks.c.org_id == tx.org_id, tasks.c.task_id.in_(longer))
        .values(lease_expires_at=until)
    )
    return {
        str(task.run_id): ((until if task.task_id in longer else _until(task)) - at).total_seconds()
        for task in alive
    }


def hand_over(tx: Transaction, ticket: RunTicket) -> None:
    """Somebody outside goes on with it, until the time of its job is over."""
    task = require(tx, ticket)
    if task.kind is not TaskKind.HTTP:
        raise NotHandedOver(run=ticket.run_id, kind=task.kind)
    if lease_over(task, tx.now()):
        raise Fenced(run=ticket.run_id, reason="its lease is over")
    begun = tx.execute(
        select(task_attempts.c.started_at, task_attempts.c.config_hash).where(
            task_attempts.c.org_id == tx.org_id, task_attempts.c.run_id == ticket.run_id
        )
    ).one()
    terms = terms_of(tx, {begun.config_hash} - {None})
    controls = terms[begun.config_hash].controls if terms else JobControls()
    name = task.worker.name if task.worker else OUTSIDE
    outside = WorkerIdentity(name=name, host=OUTSIDE, pid=_NO_PROCESS, process_mark="")
    tx.execute(
        update(tasks)
        .where(tasks.c.org_id == tx.org_id, tasks.c.task_id == task.task_id)
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


# Attempts that nobody goes on with: their lease is over, or their process is gone.


def cause_of_death(task: Task, at: datetime) -> str | None:
    if task.worker is not None and is_gone(task.worker):
        return f"its process {task.worker.pid} on {task.worker.host} is gone"
    return "its lease is over" if lease_over(task, at) else None


def end_lapsed(tx: Transaction, *, rules: DispatchSettings) -> list[Task]:
    """End all attempts that would end by a report and never will. What is being reported at this
    very moment is left to its report."""
    at = tx.now()
    ended: list[tuple[Task, Failure]] = []
    seen = find_lapsed(tx, at)
    for piece in in_pieces(seen):
        some = tasks.c.task_id.in_(piece)
        held = _reported(tx.org_id).where(some).with_for_update(skip_locked=True)
        for task, reason in _lapsed(tx, held, at):
            ended.append((task, _failure(task, reason)))
    return _end(tx, ended, tx.actor, at, rules)


def _failure(task: Task, reason: str) -> Failure:
    """Who was handed an attempt has no lease to keep, but the time of the job."""
    if is_outside(task):
        return failure_of(ReportOverdue(run=task.run_id))
    return failure_of(Fenced(run=task.run_id, reason=reason))


def find_lapsed(tx: Transaction, at: datetime) -> list[str]:
    """Tasks whose attempt looks dead. Nobody is locked: who is alive waits for no look."""
    return [task.task_id for task, _ in _lapsed(tx, _reported(tx.org_id), at)]


def _lapsed(tx: Transaction, query: Select[Any], at: datetime) -> Iterator[tuple[Task, str]]:
    for row in tx.execute(query):
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


def end_canceled(tx: Transaction, task: Task, failure: Failure, *, actor: str) -> Task:
    """End an attempt that would have reported; its report comes too late from now on."""
    at = tx.now()
    (canceled,) = change(
        tx,
        [Change(task, TaskState.CANCELED, actor, code=failure.code, message=failure.message)],
        at,
    )
    record_ends(tx, [given_up(task, canceled.state, failure, at)], at)
    return canceled


def _end(
    tx: Transaction,
    ended: Sequence[tuple[Task, Failure]],
    actor: str,
    at: datetime,
    rules: DispatchSettings,
) -> list[Task]:
    changes = []
    for task, failure in ended:
        state, due_at = ended_as(task, RunStatus.FAILED, failure, at, rules)
        changes.append(Change(task, state, actor, failure.code, failure.message, due_at))
    after = change(tx, changes, at)
    ends = [
        given_up(task, new.state, failure, at)
        for (task, failure), new in zip(ended, after, strict=True)
    ]
    if ended:
        record_ends(tx, ends, at)
    return after

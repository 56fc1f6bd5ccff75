"""Leases and heartbeats, extended in bulk for all attempts of a worker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, select, update

from lakeguard.dispatch.attempt_ends import REPORTED_KINDS, given_up, record_ends
from lakeguard.dispatch.retry import ended_as
from lakeguard.dispatch.task_changes import Change, change
from lakeguard.dispatch.task_row import Task, death_of, task_from
from lakeguard.dispatch.tasks import (
    get_task,
    lease_over,
    require,
    ticket_of,
    unstarted_tasks,
)
from lakeguard.dispatch.terms import terms_of
from lakeguard.settings.settings import DispatchSettings
from lakeguard.state.bulk_writes import in_pieces
from lakeguard.state.schema import task_attempts, tasks
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import RunStatus, TaskKind, TaskState
from lakeguard_sdk.errors import Fenced, NeverStarted, NotHandedOver, ReportOverdue
from lakeguard_sdk.model.run import Failure, RunTicket, WorkerIdentity, failure_of
from lakeguard_sdk.scheduling.jobs import JobControls

OUTSIDE = "outside"
"""Host name of attempts handed over to an external system."""
_NO_PROCESS = 0
"""A pid that no process has."""


def keep(tx: Transaction, tickets: Sequence[RunTicket], lease: timedelta) -> dict[str, float]:
    """Extend leases; returns seconds by run. Ended attempts and expired leases are omitted.

    The time is read after all rows are locked, so a lease that expired meanwhile is not revived.
    Leases are never shortened. A handed-over attempt keeps its job's timeout.
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
    """Hand the attempt over to an external system until its job's timeout."""
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


# Dead attempts: lease expired, or process gone.


def cause_of_death(task: Task, at: datetime) -> str | None:
    """Why a running attempt, or a task that only its submitter starts, can no longer end."""
    return death_of(task.worker, task.lease_expires_at, at)


def end_unstarted(tx: Transaction) -> list[tuple[Task, str]]:
    """Cancel tasks whose submitting process ended before it began them; returns each with the
    reason. Nobody else may start them: a worker would publish a run that nobody waits for."""
    at = tx.now()
    ended = [
        (task, reason)
        for seen in unstarted_tasks(tx)
        if cause_of_death(seen, at) is not None
        and (task := get_task(tx, seen.task_id)).is_unstarted
        and (reason := cause_of_death(task, at)) is not None
    ]
    change(tx, [_never_started(task, reason, tx.actor) for task, reason in ended], at)
    return ended


def _never_started(task: Task, reason: str, actor: str) -> Change:
    failure = failure_of(NeverStarted(task=task.task_id, reason=reason))
    return Change(task, TaskState.CANCELED, actor, failure.code, failure.message)


def end_lapsed(tx: Transaction, *, rules: DispatchSettings) -> list[Task]:
    """End dead attempts that would have ended with a report; those being reported are skipped."""
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
    """A handed-over attempt has no heartbeat, only its job's timeout."""
    if is_outside(task):
        return failure_of(ReportOverdue(run=task.run_id))
    return failure_of(Fenced(run=task.run_id, reason=reason))


def find_lapsed(tx: Transaction, at: datetime) -> list[str]:
    """Tasks with an apparently dead attempt, read without locks."""
    return [task.task_id for task, _ in _lapsed(tx, _reported(tx.org_id), at)]


def _lapsed(tx: Transaction, query: Select[Any], at: datetime) -> Iterator[tuple[Task, str]]:
    for row in tx.execute(query):
        task = task_from(row)
        reason = cause_of_death(task, at)
        if reason is not None:
            yield task, reason


def _reported(org_id: str) -> Select[Any]:
    """Running attempts that end with a report."""
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
    """End an attempt; a later report is refused."""
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

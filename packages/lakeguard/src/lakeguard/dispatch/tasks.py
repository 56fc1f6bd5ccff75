"""Tasks and attempts: who may work on what, until when. The State's clock decides."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, select, update

from lakeguard.state import facts
from lakeguard.state.engines import is_reading
from lakeguard.state.locking import hold
from lakeguard.state.tables import task_attempts, tasks
from lakeguard_sdk.errors import Fenced, UnknownRun
from lakeguard_sdk.ids import new_id
from lakeguard_sdk.noun import Instant, Noun
from lakeguard_sdk.run import RunTicket, WorkerIdentity
from lakeguard_sdk.words import RunStatus, TaskKind, TaskState

LEASE = timedelta(seconds=120)
MAX_ATTEMPTS = 3

_ENDED = {
    RunStatus.SUCCESS: TaskState.COMPLETED,
    RunStatus.BLOCKED: TaskState.BLOCKED,
    RunStatus.FAILED: TaskState.FAILED,
}


class Task(Noun):
    task_id: str
    org_id: str
    kind: TaskKind
    dataset_id: str
    """The dataset that it builds; of a job that builds none, the job."""
    dedupe_key: str
    parameters: str
    triggered_by: str
    created_at: Instant
    max_attempts: int
    state: TaskState
    attempt: int
    run_id: str | None
    lease_token: str | None
    lease_expires_at: Instant | None
    worker: WorkerIdentity | None
    job_id: str | None
    due_at: Instant | None
    priority: int | None
    labels: str | None
    dag_version_id: str | None
    cause: str | None
    changes: int


def submit(
    connection: Connection,
    org_id: str,
    dataset_id: str,
    *,
    kind: TaskKind,
    key: str | None,
    parameters: str,
    triggered_by: str,
    at: datetime,
    job_id: str | None = None,
) -> str:
    """One task per (dataset, key): the same key again is the same task."""
    task_id = new_id("task")
    if key is not None:
        hold(connection, f"task:{org_id}:{dataset_id}:{key}")
        known = connection.scalar(
            select(tasks.c.task_id).where(
                tasks.c.org_id == org_id,
                tasks.c.dataset_id == dataset_id,
                tasks.c.dedupe_key == key,
            )
        )
        if known is not None:
            return str(known)
    row = {
        "task_id": task_id,
        "org_id": org_id,
        "kind": kind.value,
        "dataset_id": dataset_id,
        "dedupe_key": key or task_id,
        "parameters": parameters,
        "triggered_by": triggered_by,
        "created_at": at,
        "max_attempts": MAX_ATTEMPTS,
        "state": TaskState.QUEUED.value,
        "attempt": 0,
        "job_id": job_id,
    }
    facts.record(connection, tasks, [row], at)
    return task_id


def claim(
    connection: Connection,
    org_id: str,
    task_id: str,
    worker: WorkerIdentity,
    at: datetime,
    kind: TaskKind,
) -> tuple[Task, RunTicket]:
    """Begin the next attempt of a queued task; exactly one worker gets it."""
    task = get_task(connection, org_id, task_id)
    if task.kind is not kind:
        raise Fenced(run=task_id, reason=f"the task is a {task.kind}")
    ticket = RunTicket(
        run_id=new_id("run"),
        task_id=task_id,
        attempt=task.attempt + 1,
        lease_token=new_id("lease"),
    )
    held = {"run_id": ticket.run_id, "attempt": ticket.attempt, "worker": worker.to_json()}
    claimed = connection.execute(
        update(tasks)
        .where(tasks.c.task_id == task_id, tasks.c.state == TaskState.QUEUED.value)
        .values(
            state=TaskState.RUNNING.value,
            lease_token=ticket.lease_token,
            lease_expires_at=at + LEASE,
            **held,
        )
    )
    if claimed.rowcount != 1:
        raise Fenced(run=task_id, reason=f"the task is {task.state}")
    row = {"task_id": task_id, "org_id": org_id, "started_at": at, **held}
    facts.record(connection, task_attempts, [row], at)
    return get_task(connection, org_id, task_id), ticket


def require(connection: Connection, org_id: str, ticket: RunTicket) -> Task:
    """The task, if the ticket is of its running attempt; an attempt that is over is fenced."""
    task = get_task(connection, org_id, ticket.task_id)
    if (task.run_id, task.attempt, task.lease_token) != (
        ticket.run_id,
        ticket.attempt,
        ticket.lease_token,
    ):
        raise Fenced(run=ticket.run_id, reason="another attempt runs")
    if task.state is not TaskState.RUNNING:
        raise Fenced(run=ticket.run_id, reason=f"it is {task.state}")
    return task


def require_holder(connection: Connection, org_id: str, ticket: RunTicket) -> Task:
    """The task, if the ticket is of its latest attempt, over or not."""
    task = get_task(connection, org_id, ticket.task_id)
    if (task.run_id, task.lease_token) != (ticket.run_id, ticket.lease_token):
        raise Fenced(run=ticket.run_id, reason="another attempt runs")
    return task


def extend(connection: Connection, org_id: str, ticket: RunTicket, at: datetime) -> float:
    """A new lease from now; answers its seconds. An expired one is not revived."""
    task = require(connection, org_id, ticket)
    if lease_over(task, at):
        raise Fenced(run=ticket.run_id, reason="its lease is over")
    connection.execute(
        update(tasks).where(tasks.c.task_id == ticket.task_id).values(lease_expires_at=at + LEASE)
    )
    return LEASE.total_seconds()


def finish(connection: Connection, task: Task, status: RunStatus) -> None:
    connection.execute(
        update(tasks).where(tasks.c.task_id == task.task_id).values(state=_ENDED[status].value)
    )


def requeue(connection: Connection, org_id: str, task_id: str) -> bool:
    """Queue a failed build for its next attempt, if it has one left."""
    task = get_task(connection, org_id, task_id)
    spent = task.attempt >= task.max_attempts
    if task.kind is not TaskKind.BUILD or task.state is not TaskState.FAILED or spent:
        return False
    connection.execute(
        update(tasks).where(tasks.c.task_id == task_id).values(state=TaskState.QUEUED.value)
    )
    return True


def running_tasks(connection: Connection, org_id: str) -> Sequence[Task]:
    query = select(tasks).where(tasks.c.org_id == org_id, tasks.c.state == TaskState.RUNNING.value)
    return [_task(row) for row in connection.execute(query.order_by(tasks.c.task_id))]


def get_task(connection: Connection, org_id: str, task_id: str) -> Task:
    """The task; in a writing transaction nobody else changes it until that ends."""
    query = select(tasks).where(tasks.c.org_id == org_id, tasks.c.task_id == task_id)
    if not is_reading(connection):
        query = query.with_for_update()
    row = connection.execute(query).first()
    if row is None:
        raise UnknownRun(run=task_id)
    return _task(row)


def task_of_run(connection: Connection, org_id: str, run_id: str) -> Task:
    found = connection.scalar(
        select(task_attempts.c.task_id).where(task_attempts.c.run_id == run_id)
    )
    if found is None:
        raise UnknownRun(run=run_id)
    return get_task(connection, org_id, str(found))


def started_at(connection: Connection, run_id: str) -> datetime:
    found: datetime | None = connection.scalar(
        select(task_attempts.c.started_at).where(task_attempts.c.run_id == run_id)
    )
    if found is None:
        raise UnknownRun(run=run_id)
    return found


def lease_over(task: Task, at: datetime) -> bool:
    return task.lease_expires_at is None or task.lease_expires_at <= at


def _task(row: Row[Any]) -> Task:
    fields = dict(row._mapping)
    worker = fields.pop("worker")
    return Task(worker=None if worker is None else WorkerIdentity.from_json(worker), **fields)

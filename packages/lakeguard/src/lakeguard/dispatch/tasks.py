"""Tasks and attempts: claims, leases and fencing, by the State's clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType

from sqlalchemy import literal_column, select, update

from lakeguard.dispatch.retry import ended_as
from lakeguard.dispatch.submit import NewTask, submit_all
from lakeguard.dispatch.task_changes import Change, Holding, change
from lakeguard.dispatch.task_row import Start, Task, find_task, task_from, worker_json
from lakeguard.settings.settings import DispatchSettings
from lakeguard.state import outbox
from lakeguard.state.schema import task_attempts, tasks
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import RunStatus, TaskKind, TaskState
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.errors import Fenced, NotRetryable, UnknownRun
from lakeguard_sdk.model.run import Failure, RunTicket, WorkerIdentity
from lakeguard_sdk.scheduling.process_identity import this_process

__all__ = [
    "Task",
    "claim",
    "extend",
    "finish",
    "get_task",
    "lease_over",
    "requeue",
    "require",
    "require_holder",
    "resume",
    "running_tasks",
    "started_at",
    "starts_here",
    "submit",
    "task_id_of_run",
    "task_of_run",
    "unstarted_tasks",
]

_RESUMED = (TaskState.FAILED, TaskState.BLOCKED, TaskState.CANCELED, TaskState.DEAD)


def submit(
    tx: Transaction,
    dataset_id: str,
    *,
    kind: TaskKind,
    key: str | None,
    parameters: str,
    triggered_by: str,
    at: datetime,
    rules: DispatchSettings,
    attempts: int | None = None,
    job_id: str | None = None,
    priority: int = 0,
    labels: tuple[str, ...] = (),
) -> str:
    """One task per (dataset, key): the same key is the same task.

    This process starts it by id, within a lease; otherwise the reaper cancels it.
    """
    wanted = NewTask(
        kind=kind,
        subject=dataset_id,
        key=key,
        parameters=parameters,
        triggered_by=triggered_by,
        attempts=attempts or rules.attempts,
        actor=triggered_by,
        start=starts_here(at, rules),
        job_id=job_id,
        priority=priority,
        labels=labels,
    )
    (added,) = submit_all(tx, [wanted], at)
    if added is not None:
        return added
    known = tx.scalars(
        select(tasks.c.task_id).where(
            tasks.c.org_id == tx.org_id,
            tasks.c.dataset_id == dataset_id,
            tasks.c.dedupe_key == key,
        )
    )
    return str(known.one())


def starts_here(at: datetime, rules: DispatchSettings) -> Start:
    """This process starts the task."""
    return Start(this_process("starter"), at + rules.lease)


def claim(
    tx: Transaction,
    task_id: str,
    worker: WorkerIdentity,
    at: datetime,
    kind: TaskKind,
    lease: timedelta,
    config_hashes: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Task, RunTicket]:
    """Start the next attempt of a queued task, due or not; exactly one worker gets it."""
    task = get_task(tx, task_id)
    if task.kind is not kind:
        raise Fenced(run=task_id, reason=f"the task is a {task.kind}")
    if task.state is not TaskState.QUEUED:
        raise Fenced(run=task_id, reason=f"the task is {task.state}")
    (begun,) = begin_attempts(tx, [task], worker, at, lease, config_hashes)
    return begun, ticket_of(begun)


def begin_attempts(
    tx: Transaction,
    queued: Sequence[Task],
    worker: WorkerIdentity,
    at: datetime,
    lease: timedelta,
    config_hashes: Mapping[str, str],
) -> list[Task]:
    """Start the next attempt of each task for one worker, with the hashes of their jobs' terms."""

    def attempts(begun: Sequence[Task]) -> Sequence[outbox.Fact]:
        rows = [
            {
                "task_id": task.task_id,
                "attempt": task.attempt,
                "run_id": task.run_id,
                "org_id": task.org_id,
                "started_at": at,
                "worker": worker_json(worker),
                "config_hash": config_hashes.get(task.job_id or ""),
            }
            for task in begun
        ]
        return [(task_attempts, rows)]

    return change(tx, [_begin(task, worker, at + lease) for task in queued], at, attempts)


def _begin(task: Task, worker: WorkerIdentity, until: datetime) -> Change:
    holding = Holding(
        run_id=new_id("run"),
        attempt=task.attempt + 1,
        lease_token=new_id("lease"),
        lease_expires_at=until,
        worker=worker,
    )
    return Change(task, TaskState.RUNNING, worker.name, holding=holding)


def ticket_of(task: Task) -> RunTicket:
    """The ticket of the task's latest attempt."""
    if task.run_id is None or task.lease_token is None:
        raise ValueError(f"task {task.task_id} has no attempt")
    return RunTicket(
        run_id=task.run_id,
        task_id=task.task_id,
        attempt=task.attempt,
        lease_token=task.lease_token,
    )


def require(tx: Transaction, ticket: RunTicket) -> Task:
    """The task of a running attempt's ticket; raises ``Fenced`` if the attempt is over."""
    task = get_task(tx, ticket.task_id)
    if (task.run_id, task.attempt, task.lease_token) != (
        ticket.run_id,
        ticket.attempt,
        ticket.lease_token,
    ):
        raise Fenced(run=ticket.run_id, reason="a later attempt has its place")
    if task.state is not TaskState.RUNNING:
        raise Fenced(run=ticket.run_id, reason=f"it is {task.state}")
    return task


def require_holder(tx: Transaction, ticket: RunTicket) -> Task:
    """The task of its latest attempt's ticket, ended or not."""
    task = get_task(tx, ticket.task_id)
    if (task.run_id, task.lease_token) != (ticket.run_id, ticket.lease_token):
        raise Fenced(run=ticket.run_id, reason="a later attempt has its place")
    return task


def extend(tx: Transaction, ticket: RunTicket, lease: timedelta) -> float:
    """Extend the lease and return its seconds. An expired lease is not revived."""
    at = tx.now()
    task = require(tx, ticket)
    if lease_over(task, at):
        raise Fenced(run=ticket.run_id, reason="its lease is over")
    tx.execute(
        update(tasks)
        .where(tasks.c.org_id == tx.org_id, tasks.c.task_id == ticket.task_id)
        .values(lease_expires_at=at + lease)
    )
    return lease.total_seconds()


def finish(
    tx: Transaction,
    task: Task,
    status: RunStatus,
    failure: Failure | None,
    *,
    at: datetime,
    rules: DispatchSettings,
    canceled: bool = False,
) -> Task:
    """End the running attempt, and its task unless a retry is due later."""
    state, due_at = ended_as(task, status, failure, at, rules)
    if canceled and status is RunStatus.FAILED:
        state, due_at = TaskState.CANCELED, None
    code, message = (failure.code, failure.message) if failure else (None, None)
    ended = Change(task, state, tx.actor, code=code, message=message, due_at=due_at)
    return change(tx, [ended], at)[0]


def requeue(tx: Transaction, task: Task, *, rules: DispatchSettings) -> bool:
    """Queue a failed build for its next attempt, if any is left; this process starts it."""
    spent = task.attempt >= task.max_attempts
    if task.kind is not TaskKind.BUILD or task.state is not TaskState.FAILED or spent:
        return False
    at = tx.now()
    change(tx, [Change(task, TaskState.QUEUED, tx.actor, start=starts_here(at, rules))], at)
    return True


def resume(tx: Transaction, task: Task, *, rules: DispatchSettings) -> TaskState:
    """Queue an ended build that is not completed for one more attempt, even beyond the automatic
    ones; this process starts it. Returns the task's state: completed and open tasks stay as they
    are."""
    if task.kind is not TaskKind.BUILD:
        raise NotRetryable(task=task.task_id, reason=f"it is of kind {task.kind}, not a build")
    if task.state not in _RESUMED:
        return task.state
    at = tx.now()
    again = Change(task, TaskState.QUEUED, tx.actor, start=starts_here(at, rules))
    return change(tx, [again], at)[0].state


def running_tasks(tx: Transaction) -> Sequence[Task]:
    query = select(tasks).where(
        tasks.c.org_id == tx.org_id, tasks.c.state == TaskState.RUNNING.value
    )
    return [task_from(row) for row in tx.execute(query.order_by(tasks.c.task_id))]


def unstarted_tasks(tx: Transaction) -> Sequence[Task]:
    """Queued tasks that wait for the process that submitted them, by partial index."""
    query = select(tasks).where(
        tasks.c.org_id == tx.org_id,
        tasks.c.state == literal_column("'queued'"),
        tasks.c.due_at.is_(None),
    )
    return [task_from(row) for row in tx.execute(query.order_by(tasks.c.task_id))]


def get_task(tx: Transaction, task_id: str) -> Task:
    """Like ``find_task``, but raises if missing."""
    task = find_task(tx, task_id)
    if task is None:
        raise UnknownRun(run=task_id)
    return task


def task_of_run(tx: Transaction, run_id: str) -> Task:
    return get_task(tx, task_id_of_run(tx, run_id))


def task_id_of_run(tx: Transaction, run_id: str) -> str:
    found = tx.scalar(
        select(task_attempts.c.task_id).where(
            task_attempts.c.org_id == tx.org_id, task_attempts.c.run_id == run_id
        )
    )
    if found is None:
        raise UnknownRun(run=run_id)
    return str(found)


def started_at(tx: Transaction, run_id: str) -> datetime:
    found: datetime | None = tx.scalar(
        select(task_attempts.c.started_at).where(
            task_attempts.c.org_id == tx.org_id, task_attempts.c.run_id == run_id
        )
    )
    if found is None:
        raise UnknownRun(run=run_id)
    return found


def lease_over(task: Task, at: datetime) -> bool:
    return task.lease_expires_at is None or task.lease_expires_at <= at

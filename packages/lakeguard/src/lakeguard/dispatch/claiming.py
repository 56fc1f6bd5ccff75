"""Claiming: the most urgent tasks that are due go to a worker, each to one.

A job never has more attempts from the queue than its concurrency says: whoever begins tasks of it
holds the job until his transaction ends, and counts then. Who begins a build by its id, as
``lakeguard run`` does, is counted and not held back: two of one dataset meet in its move.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import Connection

from lakeguard.dispatch import tasks
from lakeguard.dispatch.assigning import Assigned, assigned_jobs, assignments
from lakeguard.dispatch.changes import Change, change
from lakeguard.dispatch.choosing import Claim, choose, choose_named, job_lock
from lakeguard.dispatch.task import Task
from lakeguard.dispatch.tasks import begin_attempts
from lakeguard.dispatch.terms import keep_terms
from lakeguard.settings.dispatch import DispatchSettings
from lakeguard.state.locking import hold_all
from lakeguard_sdk.dispatch import Assignment, RefusedTask
from lakeguard_sdk.errors import JobOff, LaunchRefused, NotRunnable
from lakeguard_sdk.run import Failure, RunTicket, WorkerIdentity, failure_of
from lakeguard_sdk.words import TaskKind, TaskState


def claim_due(
    connection: Connection,
    org_id: str,
    worker: WorkerIdentity,
    *,
    limit: int,
    labels: frozenset[str],
    at: datetime,
    rules: DispatchSettings,
    only: str | None = None,
) -> tuple[list[Assignment], list[RefusedTask]]:
    """At most so many, the most urgent first; ``labels`` are those that the worker has. ``only``
    one task, where it is named: it need not be due, nor the worker have its labels. Beside them
    what was refused on the way."""
    claim = Claim(connection, org_id, labels, at, limit)
    choice = choose(claim) if only is None else choose_named(claim, only)
    refused = [_refused(task, choice.jobs.get(task.job_id or "")) for task in choice.off]
    ends = zip(choice.off, refused, strict=True)
    change(connection, [_blocked(task, each.error, worker.name) for task, each in ends], at)
    terms = {task.job_id: choice.jobs[task.job_id].terms for task in choice.taken if task.job_id}
    hashes = keep_terms(connection, org_id, terms, at)
    begun = begin_attempts(connection, choice.taken, worker, at, rules.lease, hashes)
    return assignments(connection, org_id, begun, choice.jobs, rules), refused


def begin_by_hand(
    connection: Connection,
    org_id: str,
    task_id: str,
    worker: WorkerIdentity,
    at: datetime,
    lease: timedelta,
) -> tuple[Task, RunTicket]:
    """Begin a queued build for who knows its id, due or not, and however many of its job run: it
    waits for none of them, and claims count it as one of the job."""
    task = tasks.get_task(connection, org_id, task_id)
    hashes: dict[str, str] = {}
    if task.job_id is not None:
        hold_all(connection, [job_lock(org_id, task.job_id)])
        jobs = assigned_jobs(connection, org_id, [task.job_id])
        terms = {job_id: job.terms for job_id, job in jobs.items()}
        hashes = keep_terms(connection, org_id, terms, at)
    return tasks.claim(connection, org_id, task_id, worker, at, TaskKind.BUILD, lease, hashes)


def _refused(task: Task, job: Assigned | None) -> RefusedTask:
    return RefusedTask(
        task_id=task.task_id,
        kind=task.kind,
        job=None if job is None else job.name,
        error=failure_of(_reason(task, job)),
    )


def _blocked(task: Task, error: Failure, actor: str) -> Change:
    return Change(task, TaskState.BLOCKED, actor, code=error.code, message=error.message)


def _reason(task: Task, job: Assigned | None) -> LaunchRefused:
    """As a launch would be refused now, in the same order."""
    if job is None:
        return JobOff(problem=f"job {task.job_id} is no longer defined")
    if job.wrong:
        return NotRunnable(problem=job.wrong)
    return JobOff(problem=f"job {job.name} was switched off since this was launched")

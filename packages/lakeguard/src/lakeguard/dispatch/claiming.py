"""Claiming: the most urgent tasks that are due go to a worker, each to one.

A job never has more attempts under way than its concurrency says: whoever takes tasks of it holds
the job until his transaction ends, and counts then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from lakeguard.dispatch import queue
from lakeguard.dispatch.assigning import Assigned, assigned_jobs, assignments
from lakeguard.dispatch.changes import Change, change
from lakeguard.dispatch.task import Task, task_from
from lakeguard.dispatch.tasks import begin_attempts
from lakeguard.dispatch.terms import keep_terms
from lakeguard.settings.dispatch import DispatchSettings
from lakeguard.state.locking import hold_all
from lakeguard_sdk.dispatch import Assignment
from lakeguard_sdk.job_errors import JobOff
from lakeguard_sdk.run import WorkerIdentity
from lakeguard_sdk.words import TaskState

_MOST_JOBS = 500
"""So many jobs are asked for by name where others fill the head of the queue."""


@dataclass
class _Choice:
    """What a claim has found so far."""

    taken: list[Task]
    off: list[Task]
    """Their job was switched off, or is gone, since they were launched."""
    jobs: dict[str, Assigned]
    free: Counter[str]
    """How many more attempts each job may have."""


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
) -> list[Assignment]:
    """At most so many, the most urgent first; ``labels`` are those that the worker has. ``only``
    one task, where it is named: it need not be due, nor the worker have its labels."""
    wanted = [
        asked for asked in _label_sets(connection, org_id) if labels.issuperset(asked.split())
    ]
    choice = _Choice([], [], {}, Counter())
    if only is not None:
        found = [task_from(row) for row in connection.execute(queue.named(org_id, only))]
    else:
        found = _head(connection, org_id, wanted, at, limit)
    _choose(connection, org_id, choice, found, limit)
    if only is None and len(found) >= limit > len(choice.taken):
        _choose(
            connection,
            org_id,
            choice,
            _beyond(connection, org_id, choice, wanted, at, limit),
            limit,
        )
    refused = [_refusal(task, choice.jobs, worker.name) for task in choice.off]
    change(connection, refused, at)
    terms = {task.job_id: choice.jobs[task.job_id].terms for task in choice.taken if task.job_id}
    hashes = keep_terms(connection, org_id, terms, at)
    begun = begin_attempts(connection, choice.taken, worker, at, rules.lease, hashes)
    return assignments(connection, org_id, begun, choice.jobs, rules)


def _label_sets(connection: Connection, org_id: str) -> list[str]:
    return list(connection.scalars(queue.label_sets(org_id)))


def _head(
    connection: Connection, org_id: str, wanted: Sequence[str], at: datetime, limit: int
) -> list[Task]:
    found = [
        task_from(row)
        for asked in wanted
        for row in connection.execute(queue.head(org_id, asked, at, limit))
    ]
    return _urgent(found, limit)


def _beyond(
    connection: Connection,
    org_id: str,
    choice: _Choice,
    wanted: Sequence[str],
    at: datetime,
    limit: int,
) -> list[Task]:
    """Of jobs that may go on, where the head of the queue is full of jobs that may not."""
    waiting = connection.scalars(queue.waiting_jobs(org_id))
    jobs = [job for job in waiting if job not in choice.jobs or choice.free[job] > 0]
    seen = {task.task_id for task in (*choice.taken, *choice.off)}
    on_server = connection.dialect.name == "postgresql"
    heads = queue.first_of_each_job if on_server else queue.head_of_jobs
    found = [
        task_from(row)
        for asked in wanted
        for row in connection.execute(heads(org_id, asked, at, limit, jobs[:_MOST_JOBS]))
    ]
    return _urgent([task for task in found if task.task_id not in seen], limit)


def _urgent(found: Iterable[Task], limit: int) -> list[Task]:
    return sorted(found, key=lambda task: (-(task.priority or 0), task.due_at, task.task_id))[
        :limit
    ]


def _choose(
    connection: Connection, org_id: str, choice: _Choice, found: Sequence[Task], limit: int
) -> None:
    """Take of what was found what its job allows."""
    _hold_jobs(connection, org_id, choice, {task.job_id for task in found if task.job_id})
    for task in found:
        if len(choice.taken) == limit:
            return
        if task.job_id is None:
            choice.taken.append(task)
        elif task.job_id not in choice.jobs or not choice.jobs[task.job_id].on:
            choice.off.append(task)
        elif choice.free[task.job_id] > 0:
            choice.free[task.job_id] -= 1
            choice.taken.append(task)


def _hold_jobs(connection: Connection, org_id: str, choice: _Choice, named: set[str]) -> None:
    """From here on nobody else begins a task of these jobs before this transaction ends."""
    new = sorted(named - set(choice.jobs))
    if not new:
        return
    hold_all(connection, [f"job:{org_id}:{job_id}" for job_id in new])
    jobs = assigned_jobs(connection, org_id, new)
    counted = connection.execute(queue.running_of_jobs(org_id, new))
    running: dict[str, int] = {row[0]: row[1] for row in counted}
    choice.jobs |= jobs
    for job_id, job in jobs.items():
        choice.free[job_id] = job.terms.controls.concurrency - running.get(job_id, 0)


def _refusal(task: Task, jobs: dict[str, Assigned], actor: str) -> Change:
    job = jobs.get(task.job_id or "")
    name = task.job_id if job is None else job.name
    said = "is no longer defined" if job is None else "was switched off since this was launched"
    error = JobOff(problem=f"job {name} {said}")
    return Change(task, TaskState.BLOCKED, actor, code=error.code, message=str(error))

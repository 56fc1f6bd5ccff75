"""Claiming: the most urgent tasks that are due go to a worker, each to one.

A job never has more attempts under way than its concurrency says: whoever takes tasks of it holds
the job until his transaction ends, and counts then.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection

from lakeguard.dispatch.assigning import Assigned, assignments
from lakeguard.dispatch.changes import Change, change
from lakeguard.dispatch.choosing import Claim, choose, choose_named
from lakeguard.dispatch.task import Task
from lakeguard.dispatch.tasks import begin_attempts
from lakeguard.dispatch.terms import keep_terms
from lakeguard.settings.dispatch import DispatchSettings
from lakeguard_sdk.dispatch import Assignment
from lakeguard_sdk.job_errors import JobOff
from lakeguard_sdk.run import WorkerIdentity
from lakeguard_sdk.words import TaskState


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
    claim = Claim(connection, org_id, labels, at, limit)
    choice = choose(claim) if only is None else choose_named(claim, only)
    refused = [_refusal(task, choice.jobs, worker.name) for task in choice.off]
    change(connection, refused, at)
    terms = {task.job_id: choice.jobs[task.job_id].terms for task in choice.taken if task.job_id}
    hashes = keep_terms(connection, org_id, terms, at)
    begun = begin_attempts(connection, choice.taken, worker, at, rules.lease, hashes)
    return assignments(connection, org_id, begun, choice.jobs, rules)


def _refusal(task: Task, jobs: dict[str, Assigned], actor: str) -> Change:
    job = jobs.get(task.job_id or "")
    name = task.job_id if job is None else job.name
    said = "is no longer defined" if job is None else "was switched off since this was launched"
    error = JobOff(problem=f"job {name} {said}")
    return Change(task, TaskState.BLOCKED, actor, code=error.code, message=str(error))

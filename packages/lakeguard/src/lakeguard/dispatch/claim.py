"""Claims: the most urgent due tasks go to a worker, each to exactly one.

A job never exceeds its concurrency: a claim locks the job for its transaction and counts running
attempts under that lock. A build started by id (``lakeguard run``) is counted but not limited; two
builds of one dataset are serialised by their moves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, Select

from lakeguard.dispatch import queue, tasks
from lakeguard.dispatch.assign import Assigned, assigned_jobs, assignments
from lakeguard.dispatch.retry import too_far
from lakeguard.dispatch.task_changes import Change, change
from lakeguard.dispatch.task_row import Task, task_from
from lakeguard.dispatch.tasks import begin_attempts
from lakeguard.dispatch.terms import keep_terms
from lakeguard.settings.settings import DispatchSettings
from lakeguard.state.claim_function import ALL
from lakeguard.state.locks import hold_all, try_hold_all
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import TaskKind, TaskState
from lakeguard_sdk.errors import JobDisabled, LaunchRefused, NotRunnable
from lakeguard_sdk.model.run import (
    Failure,
    RunTicket,
    WorkerIdentity,
    failure_of,
)
from lakeguard_sdk.scheduling.tasks import Assignment, RefusedTask

# Selection: the most urgent due tasks that their jobs allow.

_LOOKS = 3
"""Passes over the queue: more than one only if other workers take what was found."""


@dataclass
class Choice:
    """State of a claim in progress."""

    taken: list[Task] = field(default_factory=list)
    off: list[Task] = field(default_factory=list)
    """Tasks whose job was disabled, removed or misconfigured since their launch."""
    jobs: dict[str, Assigned] = field(default_factory=dict)
    held: set[str] = field(default_factory=set)
    """Jobs locked by this transaction."""
    free: Counter[str] = field(default_factory=Counter)
    """Free slots per job."""

    def goes_on(self, job_id: str) -> bool:
        """Whether the job has a free slot."""
        return self.may_run(job_id) and self.free[job_id] > 0

    def may_run(self, job_id: str) -> bool:
        """Whether a job exists, is enabled and has valid settings."""
        job = self.jobs.get(job_id)
        return job is not None and job.on and not job.wrong


@dataclass(frozen=True)
class Claim:
    """A worker's request."""

    tx: Transaction
    labels: frozenset[str]
    at: datetime
    too_far: datetime
    limit: int
    patient: bool = True
    """Whether to wait for jobs that other claims hold."""

    def rows(self, due: Select[Any], **values: Any) -> Iterable[Row[Any]]:
        """Tasks due at the time of the claim."""
        return self.tx.execute(due, {"at": self.at, "too_far": self.too_far, **values})


def _choose_named(claim: Claim, task_id: str) -> Choice:
    """One task, due or not."""
    choice = Choice()
    rows = claim.tx.execute(queue.named(claim.tx.org_id, task_id))
    _take(claim, choice, [task_from(row) for row in rows])
    return choice


def _choose(claim: Claim) -> Choice:
    """Take from the head of the queue, skipping full jobs."""
    choice = Choice()
    found = _urgent(map(task_from, _heads(claim)), claim.limit)
    _take(claim, choice, found, patient=claim.patient)
    if len(found) == claim.limit > len(choice.taken):
        _look_beyond(claim, choice, found)
    return choice


def _heads(claim: Claim) -> Iterable[Row[Any]]:
    if claim.tx.dialect.name == "postgresql":
        return claim.rows(queue.heads(claim.tx.org_id, claim.limit), labels=sorted(claim.labels))
    return [
        row
        for asked in _wanted(claim)
        for row in claim.rows(queue.head(claim.tx.org_id, asked, claim.limit))
    ]


def _wanted(claim: Claim) -> list[str]:
    """Label sets of queued tasks that this worker's labels cover."""
    sets = claim.tx.scalars(queue.label_sets(claim.tx.org_id))
    return [asked for asked in sets if claim.labels.issuperset(asked.split())]


def _look_beyond(claim: Claim, choice: Choice, found: Sequence[Task]) -> None:
    """Lock without waiting: waiting for further jobs while holding some could deadlock."""
    wanted = _wanted(claim)
    waiting = claim.tx.execute(queue.waiting_jobs(claim.tx.org_id))
    running: dict[str, int] = {row[0]: row[1] for row in waiting}
    closed = _full_jobs(claim, running)
    for _ in range(_LOOKS):
        closed |= {task.job_id for task in found if task.job_id and not choice.goes_on(task.job_id)}
        found = _beyond(claim, choice, wanted, running.keys() - closed, closed)
        _take(claim, choice, found, patient=False)
        if not found or len(choice.taken) == claim.limit:
            return


def _full_jobs(claim: Claim, running: dict[str, int]) -> set[str]:
    """Estimated without locks; counted again when taken."""
    busy = [job_id for job_id, count in running.items() if count]
    if not busy:
        return set()
    jobs = assigned_jobs(claim.tx, busy)
    return {each for each in jobs if running[each] >= jobs[each].terms.controls.concurrency}


def _beyond(
    claim: Claim,
    choice: Choice,
    wanted: Sequence[str],
    opened: Collection[str],
    closed: Collection[str],
) -> list[Task]:
    """The most urgent tasks without a job, and of jobs with free slots."""
    seen = {task.task_id for task in (*choice.taken, *choice.off)}
    limit = claim.limit + len(seen)
    found = []
    for asked in wanted:
        if claim.tx.dialect.name == "postgresql":
            statements = [
                queue.head_of_no_job(claim.tx.org_id, asked, limit),
                queue.head_of_jobs(claim.tx.org_id, asked, limit, opened),
            ]
        else:
            statements = [queue.head_without(claim.tx.org_id, asked, limit, closed)]
        found += [task_from(row) for each in statements for row in claim.rows(each)]
    return _urgent((task for task in found if task.task_id not in seen), claim.limit)


def _urgent(found: Iterable[Task], limit: int) -> list[Task]:
    return sorted(found, key=lambda task: (-(task.priority or 0), task.due_at, task.task_id))[
        :limit
    ]


def _take(claim: Claim, choice: Choice, found: Sequence[Task], *, patient: bool = True) -> None:
    """Take the found tasks that their jobs allow."""
    named = {task.job_id for task in found if task.job_id}
    _hold_jobs(claim, choice, named, patient=patient)
    for task in found:
        if len(choice.taken) == claim.limit:
            return
        if task.job_id is None:
            choice.taken.append(task)
        elif task.job_id not in choice.held:
            continue
        elif not choice.may_run(task.job_id):
            choice.off.append(task)
        elif choice.free[task.job_id] > 0:
            choice.free[task.job_id] -= 1
            choice.taken.append(task)


def job_lock(org_id: str, job_id: str) -> str:
    """The lock under which tasks of a job are started."""
    return f"job:{org_id}:{job_id}"


def _hold_jobs(claim: Claim, choice: Choice, named: set[str], *, patient: bool) -> None:
    """Lock jobs for this transaction; with ``patient=False`` skip those that another holds."""
    names = {job_lock(claim.tx.org_id, job_id): job_id for job_id in sorted(named - choice.held)}
    held = list(names)
    if patient:
        hold_all(claim.tx, held)
    else:
        held = try_hold_all(claim.tx, held)
    new = [names[name] for name in held]
    if not new:
        return
    jobs = assigned_jobs(claim.tx, new)
    choice.held.update(new)
    choice.jobs |= jobs
    for job_id, job in jobs.items():
        choice.free[job_id] = job.terms.controls.concurrency - job.running


@dataclass(frozen=True)
class Claimed:
    """What a worker got, and the tasks and jobs behind its assignments."""

    assignments: Sequence[Assignment] = ()
    refused: Sequence[RefusedTask] = ()
    begun: Sequence[Task] = ()
    jobs: Mapping[str, Assigned] = field(default_factory=dict)
    reason: str = ALL
    """Why there are not more: see ``claim_function``."""


def claim_due(
    tx: Transaction,
    worker: WorkerIdentity,
    *,
    limit: int,
    labels: frozenset[str],
    rules: DispatchSettings,
    only: str | None = None,
    patient: bool = True,
) -> Claimed:
    """Claim up to a number of tasks, most urgent first, matching the worker's ``labels``. ``only``
    names one task, which need not be due nor match. Tasks of jobs that other claims hold are left
    out unless ``patient``."""
    at = tx.now()
    claim = Claim(tx, labels, at, too_far(at, rules), limit, patient)
    choice = _choose(claim) if only is None else _choose_named(claim, only)
    refused = [_refused(task, choice.jobs.get(task.job_id or "")) for task in choice.off]
    ends = zip(choice.off, refused, strict=True)
    change(tx, [_blocked(task, each.error, worker.name) for task, each in ends], at)
    terms = {task.job_id: choice.jobs[task.job_id].terms for task in choice.taken if task.job_id}
    hashes = keep_terms(tx, terms, at)
    begun = begin_attempts(tx, choice.taken, worker, at, rules.lease, hashes)
    jobs = {job_id: choice.jobs[job_id] for job_id in terms}
    return Claimed(assignments(tx, begun, jobs, rules), refused, begun, jobs)


def begin_by_hand(
    tx: Transaction, task_id: str, worker: WorkerIdentity, lease: timedelta
) -> tuple[Task, RunTicket]:
    """Start a queued build by id, due or not, beyond its job's concurrency; claims count it."""
    at = tx.now()
    task = tasks.get_task(tx, task_id)
    hashes: dict[str, str] = {}
    if task.job_id is not None:
        hold_all(tx, [job_lock(tx.org_id, task.job_id)])
        jobs = assigned_jobs(tx, [task.job_id])
        terms = {job_id: job.terms for job_id, job in jobs.items()}
        hashes = keep_terms(tx, terms, at)
    return tasks.claim(tx, task_id, worker, at, TaskKind.BUILD, lease, hashes)


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
    """Why a launch would be refused now, in gate order."""
    if job is None:
        return JobDisabled(problem=f"job {task.job_id} is no longer defined")
    if job.wrong:
        return NotRunnable(problem=job.wrong)
    return JobDisabled(problem=f"job {job.name} was switched off since this was launched")

"""Launches jobs: one task per job and key, or a recorded refusal.

All requests of a tick are handled together: gate facts are read once, rows are written in bulk.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from functools import lru_cache
from typing import Any

from sqlalchemy import tuple_

from lakeguard.dispatch.queue import tasks_and_why
from lakeguard.dispatch.submit import NewTask, submit_all
from lakeguard.dispatch.tasks import starts_here
from lakeguard.ledger.left_graphs import graph_lock
from lakeguard.promotion.context import PlaneContext
from lakeguard.scheduler.graph.current_jobs import CurrentJob, current_jobs
from lakeguard.scheduler.launch.gate_facts import GateFacts, read_facts
from lakeguard.scheduler.launch.gates import overlapping, refusal
from lakeguard.scheduler.launch.requests import Cause, CauseKind, LaunchRequest
from lakeguard.state.bulk_writes import in_pieces
from lakeguard.state.locks import hold, hold_shared
from lakeguard.state.schema import tasks
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import TaskKind, TaskState
from lakeguard_sdk.errors import LaunchRefused, NotRunnable
from lakeguard_sdk.scheduling.jobs import Launch, Overlap

__all__ = ["Cause", "CauseKind", "LaunchRequest", "launch"]


def overlap_lock(org_id: str) -> str:
    """The lock under which a non-overlapping job is checked and launched."""
    return f"overlap:{org_id}"


def launch(
    tx: Transaction,
    context: PlaneContext,
    requests: Sequence[LaunchRequest],
    read_all: Callable[[Transaction], Mapping[str, CurrentJob]] | None = None,
) -> list[Launch]:
    """Outcomes of the requests, in order. A repeated request is not new.

    A job type that nothing here runs gets no task, nor does a request that waits for a temporary
    refusal to pass: both are reported but not stored. ``read_all`` supplies all jobs, cached by
    the caller; it is called while the graph lock is held.
    """
    if not requests:
        return []
    org_id = tx.org_id
    hold_shared(tx, graph_lock(org_id))
    requested = {request.job_id for request in requests}
    if read_all is None:
        jobs = current_jobs(tx, requested)
    else:
        jobs = {key: job for key, job in read_all(tx).items() if key in requested}
    if any(map(_is_alone, jobs.values())):
        hold(tx, overlap_lock(org_id))
    at = tx.now()
    facts = read_facts(tx, jobs.values(), at)
    refused = _refused(requests, jobs, facts, _spent(tx, requests, jobs, facts))
    runnable = [
        index
        for index, request in enumerate(requests)
        if _can_run(jobs.get(request.job_id)) and not isinstance(refused[index], request.waits_out)
    ]
    causes = _cause_texts(requests)
    wanted = [
        _new_task(
            context, requests[index], jobs[requests[index].job_id], facts, refused[index], causes
        )
        for index in runnable
    ]
    added = submit_all(tx, wanted, at)
    again = [
        (task.subject, str(task.key))
        for task, new in zip(wanted, added, strict=True)
        if new is None
    ]
    before = _known(tx, again)
    answers = {
        index: _answer(jobs[requests[index].job_id], task, new, before)
        for index, task, new in zip(runnable, wanted, added, strict=True)
    }
    return [
        answers.get(index) or _not_stored(request, jobs.get(request.job_id), refused[index])
        for index, request in enumerate(requests)
    ]


def _can_run(job: CurrentJob | None) -> bool:
    return job is not None and job.controls.kind is not None


def _spent(
    tx: Transaction,
    requests: Sequence[LaunchRequest],
    jobs: Mapping[str, CurrentJob],
    facts: GateFacts,
) -> set[tuple[str, str]]:
    """Non-overlapping jobs, with the keys already launched."""
    alone = {each.job_id: each for each in jobs.values() if _is_alone(each)}
    subjects = {
        (request.job_id, request.key): (_subject(alone[request.job_id], facts), request.key)
        for request in requests
        if request.job_id in alone
    }
    known = _known(tx, list(subjects.values()))
    return {requested for requested, key in subjects.items() if key in known}


def _is_alone(job: CurrentJob) -> bool:
    return job.controls.overlap is Overlap.SKIP


def _refused(
    requests: Sequence[LaunchRequest],
    jobs: Mapping[str, CurrentJob],
    facts: GateFacts,
    spent: Collection[tuple[str, str]],
) -> list[LaunchRefused | None]:
    """Refusals by request; gates run once per job, and a non-overlapping job starts once. Repeated
    requests start nothing and block nothing."""
    by_job = {job.job_id: refusal(job, facts) for job in jobs.values()}
    busy = set(facts.under_way)
    found: list[LaunchRefused | None] = []
    for request in requests:
        job = jobs.get(request.job_id)
        why = by_job.get(request.job_id)
        new = (request.job_id, request.key) not in spent
        if job is not None and why is None and new and _is_alone(job):
            why = overlapping(job) if request.job_id in busy else None
            busy.add(request.job_id)
        found.append(why)
    return found


def _cause_texts(requests: Sequence[LaunchRequest]) -> dict[int, str]:
    """Documents by identity of the cause: many requests of a tick share one."""
    causes = {id(request.cause): request.cause for request in requests}
    return {key: cause.to_json() for key, cause in causes.items()}


def _new_task(
    context: PlaneContext,
    request: LaunchRequest,
    job: CurrentJob,
    facts: GateFacts,
    refused: LaunchRefused | None,
    causes: Mapping[int, str],
) -> NewTask:
    controls = job.controls
    return NewTask(
        kind=controls.kind or TaskKind.BUILD,
        subject=_subject(job, facts),
        key=request.key,
        parameters=parameters_text(request),
        triggered_by=request.actor,
        attempts=controls.attempts or context.dispatch.attempts,
        actor=request.actor,
        due_at=None if refused or request.reserved else facts.at,
        start=starts_here(facts.at, context.dispatch) if request.reserved and not refused else None,
        job_id=job.job_id,
        priority=controls.priority,
        labels=controls.labels,
        dag_version_id=facts.graph.dag_version_id if facts.graph else None,
        cause=causes[id(request.cause)],
        state=TaskState.BLOCKED if refused else TaskState.QUEUED,
        code=refused.code if refused else None,
        message=str(refused) if refused else None,
    )


def _subject(job: CurrentJob, facts: GateFacts) -> str:
    """The dataset that the job builds, else the job."""
    name = job.definition.dataset if job.controls.kind is TaskKind.BUILD else None
    standing = facts.datasets.get(name) if name else None
    return standing.dataset_id if standing else job.job_id


def parameters_text(request: LaunchRequest) -> str:
    """Parameters stored with a task: date, settings, window."""
    if not request.parameters and request.window is None:
        return _day_text(request.day)
    parameters: dict[str, Any] = {} if request.day is None else {"day": request.day.isoformat()}
    if request.parameters:
        parameters["set"] = request.parameters
    if request.window is not None:
        parameters["window"] = request.window.to_data()
    return json.dumps(parameters)


@lru_cache(maxsize=1_000)
def _day_text(day: date | None) -> str:
    """Cached: most requests of a tick carry only the same date."""
    return "{}" if day is None else json.dumps({"day": day.isoformat()})


def _known(tx: Transaction, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Any]:
    """Existing tasks by subject and key."""
    found: dict[tuple[str, str], Any] = {}
    for piece in in_pieces(keys):
        same = tuple_(tasks.c.dataset_id, tasks.c.dedupe_key).in_(piece)
        query = tasks_and_why(tx.org_id).where(same)
        found.update({(row.dataset_id, row.dedupe_key): row for row in tx.execute(query)})
    return found


def _answer(
    job: CurrentJob, task: NewTask, new: str | None, known: Mapping[tuple[str, str], Any]
) -> Launch:
    if new is not None:
        return Launch(
            job=job.name,
            task_id=new,
            state=task.state,
            new=True,
            code=task.code or "",
            reason=task.message or "",
        )
    row = known[task.subject, str(task.key)]
    return Launch(
        job=job.name,
        task_id=row.task_id,
        state=TaskState(row.state),
        new=False,
        code=row.code or "",
        reason=row.message or "",
    )


def _not_stored(
    request: LaunchRequest, job: CurrentJob | None, refused: LaunchRefused | None
) -> Launch:
    why = refused or NotRunnable(problem=f"there is no job {request.job_id}")
    return Launch.model_construct(  # an unknown job has no name
        job=job.name if job else request.job_id,
        task_id="",
        state=TaskState.BLOCKED,
        new=False,
        code=why.code,
        reason=str(why),
    )

"""The job list: settings, switches, next launch time and last task."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from lakeguard.dispatch.queue import is_last_transition
from lakeguard.dispatch.task_row import death_of
from lakeguard.ledger.switches import last_switches
from lakeguard.scheduler.graph.current_jobs import CurrentJob, current_jobs
from lakeguard.scheduler.graph.store import StoredGraph, active_graph
from lakeguard.state.schema import (
    job_schedules,
    md_jobs,
    task_transitions,
    tasks,
)
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.errors import UnknownJob
from lakeguard_sdk.model.run import WorkerIdentity
from lakeguard_sdk.scheduling.cron import parse_cron
from lakeguard_sdk.scheduling.cron_zones import next_moment, zone_of
from lakeguard_sdk.scheduling.jobs import JobRow


def list_jobs(tx: Transaction) -> list[JobRow]:
    """Jobs ordered by name."""
    return _rows(tx, current_jobs(tx).values())


def show_job(tx: Transaction, name: str) -> JobRow:
    job = require_job(tx, name)
    return _rows(tx, [job], job.job_id)[0]


def require_job(tx: Transaction, name: str) -> CurrentJob:
    """Raises ``UnknownJob`` with the nearest name."""
    defined = (md_jobs.c.org_id == tx.org_id) & (md_jobs.c.revision > 0)
    job_id = tx.scalar(select(md_jobs.c.job_id).where(defined, md_jobs.c.job_name == name))
    if job_id is None:
        names = tx.scalars(select(md_jobs.c.job_name).where(defined))
        raise UnknownJob(job=name[:80], hint=did_you_mean(name, list(names)))
    return current_jobs(tx, {job_id})[job_id]


def _rows(tx: Transaction, jobs: Iterable[CurrentJob], only: str | None = None) -> list[JobRow]:
    """``only`` restricts all queries to one job."""
    graph = active_graph(tx)
    schedules = _schedules(tx, only)
    last = _last_tasks(tx, only)
    switched = last_switches(tx, None if only is None else {only})
    at = tx.now()
    return [
        JobRow(
            job_id=job.job_id,
            job=job.name,
            dataset=job.definition.dataset,
            kind=job.controls.kind,
            active=job.active,
            enabled=job.enabled,
            switched=switched.get(job.job_id),
            deployed=graph is not None and graph.knows(job.definition),
            controls=job.controls,
            next_at=_next_at(job, schedules.get(job.job_id), graph, at),
            last_state=_state_of(last[job.job_id], at) if job.job_id in last else None,
            last_at=last[job.job_id].at if job.job_id in last else None,
        )
        for job in jobs
    ]


def _state_of(row: Any, at: datetime) -> TaskState:
    state = TaskState(row.state)
    if state is not TaskState.RUNNING or row.worker is None:
        return state
    worker = WorkerIdentity.from_json(row.worker)
    return TaskState.DEAD if death_of(worker, row.lease_expires_at, at) else state


def _next_at(
    job: CurrentJob, schedule: Any, graph: StoredGraph | None, at: datetime
) -> datetime | None:
    """When its schedule starts it next; None if it cannot start. The dispatcher stores the time,
    so that a schedule it has not seen yet is worked out here."""
    cron = job.controls.cron
    deployed = graph is not None and graph.knows(job.definition)
    if cron is None or not (job.active and job.enabled and deployed):
        return None
    if schedule is not None and schedule.definition_hash == job.definition_hash:
        found: datetime | None = schedule.next_at
        return found
    return next_moment(parse_cron(cron.schedule), zone_of(cron.time_zone), at)


def _schedules(tx: Transaction, only: str | None) -> dict[str, Any]:
    table = job_schedules.c
    query = select(job_schedules).where(table.org_id == tx.org_id)
    if only is not None:
        query = query.where(table.job_id == only)
    return {row.job_id: row for row in tx.execute(query)}


def _last_tasks(tx: Transaction, only: str | None) -> dict[str, Any]:
    """The latest task per job, as ``list_tasks`` orders them."""
    newest = (
        select(tasks.c.job_id, func.max(tasks.c.created_at).label("created_at"))
        .where(tasks.c.org_id == tx.org_id, tasks.c.job_id.is_not(None))
        .group_by(tasks.c.job_id)
    )
    if only is not None:
        newest = newest.where(tasks.c.job_id == only)
    made = newest.subquery()
    query = (
        select(
            tasks.c.job_id,
            tasks.c.state,
            tasks.c.worker,
            tasks.c.lease_expires_at,
            func.coalesce(task_transitions.c.at, tasks.c.created_at).label("at"),
        )
        .join(made, (made.c.job_id == tasks.c.job_id) & (made.c.created_at == tasks.c.created_at))
        .outerjoin(task_transitions, is_last_transition())
        .where(tasks.c.org_id == tx.org_id)
        .order_by(tasks.c.task_id)
    )
    return {row.job_id: row for row in tx.execute(query)}

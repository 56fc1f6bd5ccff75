"""The job list: settings, switches, next launch time and last task."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import func, select

from lakeguard.dispatch.queue import is_last_transition
from lakeguard.ledger.switches import last_switches
from lakeguard.scheduler.graph.current_jobs import CurrentJob, current_jobs
from lakeguard.scheduler.graph.store import active_graph
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
from lakeguard_sdk.scheduling.jobs import JobRow


def list_jobs(tx: Transaction) -> list[JobRow]:
    """Jobs ordered by name."""
    return _rows(tx, current_jobs(tx).values())


def show_job(tx: Transaction, name: str) -> JobRow:
    job = require_job(tx, name)
    return _rows(tx, [job], job.job_id)[0]


def require_job(tx: Transaction, name: str) -> CurrentJob:
    """Raises ``UnknownJob`` with the nearest name."""
    query = select(md_jobs.c.job_id).where(md_jobs.c.org_id == tx.org_id)
    job_id = tx.scalar(query.where(md_jobs.c.job_name == name))
    if job_id is None:
        names = tx.scalars(select(md_jobs.c.job_name).where(md_jobs.c.org_id == tx.org_id))
        raise UnknownJob(job=name[:80], hint=did_you_mean(name, list(names)))
    return current_jobs(tx, {job_id})[job_id]


def _rows(tx: Transaction, jobs: Iterable[CurrentJob], only: str | None = None) -> list[JobRow]:
    """``only`` restricts all queries to one job."""
    graph = active_graph(tx)
    next_at = _next_times(tx, only)
    last = _last_tasks(tx, only)
    switched = last_switches(tx, None if only is None else {only})
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
            next_at=next_at.get(job.job_id) if job.active and job.enabled else None,
            last_state=TaskState(last[job.job_id].state) if job.job_id in last else None,
            last_at=last[job.job_id].at if job.job_id in last else None,
        )
        for job in jobs
    ]


def _next_times(tx: Transaction, only: str | None) -> dict[str, Any]:
    table = job_schedules.c
    query = select(table.job_id, table.next_at).where(table.org_id == tx.org_id)
    if only is not None:
        query = query.where(table.job_id == only)
    return {row.job_id: row.next_at for row in tx.execute(query)}


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
            func.coalesce(task_transitions.c.at, tasks.c.created_at).label("at"),
        )
        .join(made, (made.c.job_id == tasks.c.job_id) & (made.c.created_at == tasks.c.created_at))
        .outerjoin(task_transitions, is_last_transition())
        .where(tasks.c.org_id == tx.org_id)
        .order_by(tasks.c.task_id)
    )
    return {row.job_id: row for row in tx.execute(query)}

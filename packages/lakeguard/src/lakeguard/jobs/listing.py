"""Jobs as an operator sees them: settings, switches, the next time and the last task."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, func, select

from lakeguard.jobs.current import CurrentJob, current_jobs
from lakeguard.jobs.graphs import StoredGraph, active_graph
from lakeguard.state.tables import job_schedules, md_jobs, task_transitions, tasks
from lakeguard_sdk.job import JobRow
from lakeguard_sdk.job_errors import UnknownJob
from lakeguard_sdk.spelling import did_you_mean
from lakeguard_sdk.words import TaskState


def list_jobs(connection: Connection, org_id: str) -> list[JobRow]:
    """In the order of their names."""
    return _rows(connection, org_id, current_jobs(connection, org_id).values())


def show_job(connection: Connection, org_id: str, name: str) -> JobRow:
    return _rows(connection, org_id, [require_job(connection, org_id, name)])[0]


def require_job(connection: Connection, org_id: str, name: str) -> CurrentJob:
    """``UnknownJob``, with the nearest name, where there is none."""
    query = select(md_jobs.c.job_id).where(md_jobs.c.org_id == org_id)
    job_id = connection.scalar(query.where(md_jobs.c.job_name == name))
    if job_id is None:
        names = connection.scalars(select(md_jobs.c.job_name).where(md_jobs.c.org_id == org_id))
        raise UnknownJob(job=name[:80], hint=did_you_mean(name, list(names)))
    return current_jobs(connection, org_id, {job_id})[job_id]


def _rows(connection: Connection, org_id: str, jobs: Iterable[CurrentJob]) -> list[JobRow]:
    graph = active_graph(connection, org_id)
    query = select(job_schedules.c.job_id, job_schedules.c.next_at)
    rows = connection.execute(query.where(job_schedules.c.org_id == org_id))
    next_at = {row.job_id: row.next_at for row in rows}
    last = _last_tasks(connection, org_id)
    return [
        JobRow(
            job_id=job.job_id,
            job=job.name,
            dataset=job.definition.dataset,
            kind=job.controls.kind,
            active=job.active,
            enabled=job.enabled,
            deployed=_is_deployed(job, graph),
            controls=job.controls,
            next_at=next_at.get(job.job_id) if job.active and job.enabled else None,
            last_state=TaskState(last[job.job_id].state) if job.job_id in last else None,
            last_at=last[job.job_id].at if job.job_id in last else None,
        )
        for job in jobs
    ]


def _last_tasks(connection: Connection, org_id: str) -> dict[str, Any]:
    """The newest task of each job: ids are in the order of time."""
    newest = (
        select(func.max(tasks.c.task_id).label("task_id"))
        .where(tasks.c.org_id == org_id, tasks.c.job_id.is_not(None))
        .group_by(tasks.c.job_id)
        .subquery()
    )
    query = (
        select(
            tasks.c.job_id,
            tasks.c.state,
            func.coalesce(task_transitions.c.at, tasks.c.created_at).label("at"),
        )
        .join(newest, newest.c.task_id == tasks.c.task_id)
        .outerjoin(
            task_transitions,
            (task_transitions.c.task_id == tasks.c.task_id)
            & (task_transitions.c.number == tasks.c.changes),
        )
    )
    return {row.job_id: row for row in connection.execute(query)}


def _is_deployed(job: CurrentJob, graph: StoredGraph | None) -> bool:
    """Whether the active graph knows the job as it is defined now."""
    known = None if graph is None else graph.graph.jobs.get(job.name)
    now = (job.definition.type, job.definition.dataset)
    return known is not None and (known.type, known.dataset) == now

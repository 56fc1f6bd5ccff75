"""Running and ended executions of Python and HTTP jobs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, null, select

from lakeguard.dispatch.attempt_ends import REPORTED_KINDS
from lakeguard.state.schema import md_jobs, task_attempts, task_results, tasks
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import RunStatus, TaskState
from lakeguard_sdk.model.read_models import JobExecution

_KINDS = [kind.value for kind in REPORTED_KINDS]
_ORDER = task_attempts.c.run_id.desc()
"""Newest first: ids begin with the time."""


def job_executions(
    tx: Transaction, *, status: RunStatus | None, since: datetime | None, limit: int
) -> list[JobExecution]:
    """Newest first, after those that run; a status selects ended ones only."""
    open_ones = [] if status else tx.execute(_begun(_running(tx), since).limit(limit)).all()
    ended = _begun(_ended(tx.org_id, status), since)
    rows = [*open_ones, *tx.execute(ended.limit(limit))]
    return [_execution(row) for row in rows[:limit]]


def job_execution(tx: Transaction, run_id: str) -> JobExecution | None:
    for query in (_running(tx), _ended(tx.org_id, None)):
        row = tx.execute(query.where(task_attempts.c.run_id == run_id)).first()
        if row is not None:
            return _execution(row)
    return None


def _begun(query: Select[Any], since: datetime | None) -> Select[Any]:
    if since is not None:
        query = query.where(task_attempts.c.started_at >= since)
    return query.order_by(_ORDER)


def _running(tx: Transaction) -> Select[Any]:
    here = tasks.c.run_id == task_attempts.c.run_id
    return (
        _selected(null().label("status"), null().label("ended_at"))
        .select_from(tasks)
        .join(task_attempts, here)
        .outerjoin(md_jobs, _is_its_job())
        .add_columns(null().label("error_code"), null().label("error_message"))
        .where(
            tasks.c.org_id == tx.org_id,
            tasks.c.state == TaskState.RUNNING.value,
            tasks.c.kind.in_(_KINDS),
        )
    )


def _ended(org_id: str, status: RunStatus | None) -> Select[Any]:
    """From results, which only these kinds of job have."""
    result = task_results.c
    query = (
        _selected(result.status, result.ended_at)
        .select_from(task_results)
        .join(task_attempts, task_attempts.c.run_id == result.run_id)
        .join(tasks, tasks.c.task_id == result.task_id)
        .outerjoin(md_jobs, _is_its_job())
        .add_columns(result.error_code, result.error_message)
        .where(result.org_id == org_id, result.run_id > "")
    )
    return query if status is None else query.where(result.status == status.value)


def _is_its_job() -> ColumnElement[bool]:
    return (md_jobs.c.job_id == tasks.c.job_id) & (md_jobs.c.org_id == tasks.c.org_id)


def _selected(*more: ColumnElement[Any]) -> Select[Any]:
    attempt = task_attempts.c
    shown = (attempt.run_id, attempt.started_at, attempt.attempt)
    of_task = (tasks.c.task_id, tasks.c.kind, tasks.c.triggered_by, tasks.c.job_id)
    return select(*shown, *of_task, md_jobs.c.job_name, *more)


def _execution(row: Row[Any]) -> JobExecution:
    return JobExecution(**dict(_fields(row)))


def _fields(row: Row[Any]) -> Iterator[tuple[str, Any]]:
    known = row._mapping
    yield "job", known["job_name"] or known["job_id"] or known["task_id"]
    yield "start_time", known["started_at"]
    yield "end_time", known["ended_at"]
    for name in ("run_id", "task_id", "attempt", "kind", "status", "triggered_by"):
        yield name, known[name]
    yield "error_code", known["error_code"]
    yield "error_message", known["error_message"]

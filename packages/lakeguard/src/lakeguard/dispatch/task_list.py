"""The task list: state, worker and cause."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    and_,
    literal_column,
    or_,
    select,
    union_all,
)

from lakeguard.dispatch.attempt_ends import REPORTED_KINDS
from lakeguard.dispatch.queue import is_last_transition
from lakeguard.dispatch.task_row import Task, death_of, find_task
from lakeguard.dispatch.tasks import task_id_of_run
from lakeguard.state.schema import md_jobs, task_transitions, tasks
from lakeguard.state.transaction import Transaction
from lakeguard.state.views.views import dataset_registry
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.errors import UnknownTask
from lakeguard_sdk.model.read_models import OpenRun
from lakeguard_sdk.model.run import WorkerIdentity
from lakeguard_sdk.scheduling.tasks import Cause, TaskRow, Transition
from lakeguard_sdk.security.secret_values import shown_value

_AGE = (tasks.c.created_at.desc(), tasks.c.task_id.desc())
_LAST = ("number", "attempt", "from_state", "to_state", "at", "actor", "code", "message")


def list_tasks(
    tx: Transaction, *, state: TaskState | None = None, job: str | None = None, limit: int = 50
) -> list[TaskRow]:
    """Newest first, by index lookup per state."""
    newest = [_newest(tx.org_id, each, job, limit) for each in ([state] if state else TaskState)]
    found = union_all(*(select(each.subquery()) for each in newest)).subquery("newest")
    query = _shown(tx.org_id).where(tasks.c.task_id.in_(select(found.c.task_id)))
    at = tx.now()
    return [_row(row, at) for row in tx.execute(query.order_by(*_AGE).limit(limit))]


def list_open_runs(tx: Transaction, dataset_id: str | None = None) -> list[OpenRun]:
    """Running attempts of datasets, and tasks whose process died before it began them; newest
    first."""
    states = (TaskState.RUNNING, TaskState.QUEUED)
    query = _shown(tx.org_id).where(
        tasks.c.state.in_([_word(state) for state in states]),
        or_(tasks.c.state == _word(TaskState.RUNNING), tasks.c.due_at.is_(None)),
        tasks.c.kind.not_in([kind.value for kind in REPORTED_KINDS]),
        dataset_registry.c.dataset_name.is_not(None),
    )
    if dataset_id is not None:
        query = query.where(tasks.c.dataset_id == dataset_id)
    at = tx.now()
    found = [_row(row, at) for row in tx.execute(query.order_by(*_AGE))]
    return [_open_run(row) for row in found if row.state is TaskState.RUNNING or row.dead]


def _open_run(row: TaskRow) -> OpenRun:
    if row.dataset is None:
        raise ValueError(f"task {row.task_id} builds no dataset")
    return OpenRun(
        task_id=row.task_id,
        run_id=row.run_id if row.state is TaskState.RUNNING else None,
        dataset=row.dataset,
        begun_at=row.created_at if row.last is None else row.last.at,
        triggered_by=row.triggered_by,
        worker=row.worker,
        dead=row.dead,
    )


def _newest(org_id: str, state: TaskState, job: str | None, limit: int) -> Select[Any]:
    query = select(tasks.c.task_id).where(tasks.c.org_id == org_id, tasks.c.state == state.value)
    if job is not None:
        named = select(md_jobs.c.job_id).where(
            md_jobs.c.org_id == org_id, md_jobs.c.job_name == job
        )
        query = query.where(tasks.c.job_id.in_(named))
    return query.order_by(*_AGE).limit(limit)


def show_task(tx: Transaction, task_or_run_id: str) -> TaskRow:
    """Find a task by its id or by the id of one of its runs."""
    task_id = (
        task_or_run_id
        if not task_or_run_id.startswith("run_")
        else task_id_of_run(tx, task_or_run_id)
    )
    found = tx.execute(_shown(tx.org_id).where(tasks.c.task_id == task_id)).first()
    if found is None:
        raise UnknownTask(task=task_or_run_id)
    return _row(found, tx.now())


def list_transitions(tx: Transaction, task_or_run_id: str) -> list[Transition]:
    """Transitions in order."""
    task_id = show_task(tx, task_or_run_id).task_id
    columns = [task_transitions.c[name] for name in _LAST]
    found = tx.execute(
        select(*columns)
        .where(task_transitions.c.org_id == tx.org_id, task_transitions.c.task_id == task_id)
        .order_by(task_transitions.c.number)
    )
    return [Transition(**row._mapping) for row in found]


def require_task(tx: Transaction, task_id: str) -> Task:
    """Like ``find_task``, but raises if missing."""
    task = find_task(tx, task_id)
    if task is None:
        raise UnknownTask(task=task_id)
    return task


def _shown(org_id: str) -> Select[Any]:
    last = [task_transitions.c[name].label(f"last_{name}") for name in _LAST]
    return (
        select(
            *tasks.c,
            md_jobs.c.job_name.label("job"),
            dataset_registry.c.dataset_name.label("dataset"),
            *last,
        )
        .outerjoin(md_jobs, and_(md_jobs.c.job_id == tasks.c.job_id, md_jobs.c.org_id == org_id))
        .outerjoin(
            dataset_registry,
            and_(
                dataset_registry.c.dataset_id == tasks.c.dataset_id,
                dataset_registry.c.org_id == org_id,
            ),
        )
        .outerjoin(task_transitions, is_last_transition())
        .where(tasks.c.org_id == org_id)
    )


def _row(row: Row[Any], at: datetime) -> TaskRow:
    last = {name: getattr(row, f"last_{name}") for name in _LAST}
    parameters = json.loads(row.parameters)
    worker = None if row.worker is None else WorkerIdentity.from_json(row.worker)
    return TaskRow(
        task_id=row.task_id,
        kind=row.kind,
        job=row.job,
        dataset=None if row.dataset is None else DatasetName(row.dataset),
        dedupe_key=row.dedupe_key,
        state=row.state,
        attempt=row.attempt,
        max_attempts=max(row.max_attempts, row.attempt),
        priority=row.priority,
        labels=tuple(row.labels.split()),
        run_id=row.run_id,
        worker=worker,
        created_at=row.created_at,
        due_at=row.due_at,
        lease_expires_at=row.lease_expires_at if row.state == TaskState.RUNNING else None,
        triggered_by=row.triggered_by,
        cause=None if row.cause is None else _shown_cause(row.cause),
        day=parameters.get("day"),
        parameters=_shown_values(parameters.get("set", {})),
        window=parameters.get("window"),
        dag_version_id=row.dag_version_id,
        last=None if row.last_number is None else Transition(**last),
        dead=_death(row, worker, at),
    )


def _death(row: Row[Any], worker: WorkerIdentity | None, at: datetime) -> str:
    unstarted = row.state == TaskState.QUEUED and row.due_at is None
    if row.state != TaskState.RUNNING and not unstarted:
        return ""
    return death_of(worker, row.lease_expires_at, at) or ""


def _shown_cause(text: str) -> Cause:
    cause = Cause.from_json(text)
    return cause.model_copy(update={"details": _shown_values(cause.details)})


def _shown_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Redact secrets: events and file names are untrusted."""
    return {
        name: shown_value(name, value) if isinstance(value, str) else value
        for name, value in values.items()
    }


# Open tasks.

_GOES_ON = (TaskState.QUEUED, TaskState.RUNNING)


def not_over() -> ColumnElement[bool]:
    """Tasks that are queued, running, or will be retried.

    The states are literals, as in the partial index: a planner cannot match parameters.
    """
    going_on = tasks.c.state.in_([_word(state) for state in _GOES_ON])
    waits = and_(tasks.c.state == _word(TaskState.FAILED), tasks.c.due_at.is_not(None))
    return or_(going_on, waits)


def _word(state: TaskState) -> ColumnElement[str]:
    return literal_column(f"'{state.value}'")

"""A task row."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import Row, select

from lakeguard.state.connections import is_reading
from lakeguard.state.schema import tasks
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import TaskKind, TaskState
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant
from lakeguard_sdk.model.run import WorkerIdentity
from lakeguard_sdk.scheduling.process_identity import is_gone

DATE = "date"
"""The parameter with a task's logical date."""


class Task(FrozenModel):
    task_id: str
    org_id: str
    kind: TaskKind
    dataset_id: str
    """The dataset that it builds, else the job."""
    dedupe_key: str
    parameters: str
    triggered_by: str
    created_at: Instant
    max_attempts: int
    """Maximum automatic attempts; manual retries may exceed it."""
    state: TaskState
    attempt: int
    run_id: str | None
    lease_token: str | None
    lease_expires_at: Instant | None
    worker: WorkerIdentity | None
    job_id: str | None
    due_at: Instant | None
    priority: int
    labels: str
    dag_version_id: str | None
    cause: str | None
    changes: int
    ended_at: Instant | None = None
    """When it was completed, if it was."""

    @property
    def is_unstarted(self) -> bool:
        """Whether it waits for the process that submitted it, which workers never claim."""
        return self.state is TaskState.QUEUED and self.due_at is None


@dataclass(frozen=True)
class Start:
    """The process that starts a task itself, and until when; workers never claim that task."""

    process: WorkerIdentity
    until: datetime


def find_task(tx: Transaction, task_id: str) -> Task | None:
    """The task, locked in a write transaction."""
    query = select(tasks).where(tasks.c.org_id == tx.org_id, tasks.c.task_id == task_id)
    if not is_reading(tx.connection):
        query = query.with_for_update()
    row = tx.execute(query).first()
    return None if row is None else task_from(row)


def launched_settings(task: Task) -> dict[str, str]:
    """A task's launch settings and logical date."""
    parameters = json.loads(task.parameters)
    day = {DATE: parameters["day"]} if "day" in parameters else {}
    return {**day, **parameters.get("set", {})}


def task_from(row: Row[Any]) -> Task:
    """From a row with the columns of ``tasks`` and perhaps others."""
    fields = {name: row._mapping[name] for name in Task.model_fields}
    worker = fields.pop("worker")
    return Task(worker=None if worker is None else WorkerIdentity.from_json(worker), **fields)


@lru_cache(maxsize=1_000)
def worker_json(worker: WorkerIdentity) -> str:
    """Cached: a worker claims and reports under one identity."""
    return worker.to_json()


def death_of(worker: WorkerIdentity | None, until: datetime | None, at: datetime) -> str | None:
    """Why a process that holds a lease counts as dead; None while it may live."""
    if worker is not None and is_gone(worker):
        return f"its process {worker.pid} on {worker.host} is gone"
    return "its lease is over" if until is None or until <= at else None

"""A task as its row says."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row

from lakeguard_sdk.noun import Instant, Noun
from lakeguard_sdk.run import WorkerIdentity
from lakeguard_sdk.words import TaskKind, TaskState


class Task(Noun):
    task_id: str
    org_id: str
    kind: TaskKind
    dataset_id: str
    """The dataset that it builds; of a job that builds none, the job."""
    dedupe_key: str
    parameters: str
    triggered_by: str
    created_at: Instant
    max_attempts: int
    """So often it is tried by itself; whoever tries it again by hand may go beyond."""
    state: TaskState
    attempt: int
    run_id: str | None
    lease_token: str | None
    lease_expires_at: Instant | None
    worker: WorkerIdentity | None
    job_id: str | None
    due_at: Instant | None
    priority: int | None
    labels: str | None
    dag_version_id: str | None
    cause: str | None
    changes: int
    ended_at: Instant | None = None
    """When it was completed; None for what is not."""


def task_from(row: Row[Any]) -> Task:
    fields = dict(row._mapping)
    worker = fields.pop("worker")
    return Task(worker=None if worker is None else WorkerIdentity.from_json(worker), **fields)

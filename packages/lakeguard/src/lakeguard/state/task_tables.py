"""Tasks, their attempts and what each attempt was given."""

from __future__ import annotations

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
    text,
)

from lakeguard.state.column_types import Hash, Id, Long, Name, UtcTime, Word
from lakeguard.state.metadata import metadata

_QUEUED = text("state = 'queued'")
_FAILED = text("state = 'failed'")
_ENDED = text("ended_at IS NOT NULL")
_NOT_OVER = text("(state IN ('queued', 'running') OR (state = 'failed' AND due_at IS NOT NULL))")

tasks = Table(
    "tasks",
    metadata,
    Column("task_id", Id, primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("kind", Word, nullable=False),
    Column("dataset_id", Id, nullable=False),
    Column("dedupe_key", Name, nullable=False),
    Column("parameters", Long, nullable=False),
    Column("triggered_by", Name, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("max_attempts", Integer, nullable=False),
    Column("state", Word, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("run_id", Id),
    Column("lease_token", Id),
    Column("lease_expires_at", UtcTime),
    Column("worker", Long),
    Column("job_id", Id),
    Column("due_at", UtcTime),
    Column("priority", Integer, nullable=False),
    Column("labels", Name, nullable=False),
    Column("dag_version_id", Id),
    Column("cause", Long),
    Column("changes", Integer, nullable=False),
    Column("ended_at", UtcTime),
    UniqueConstraint("org_id", "dataset_id", "dedupe_key", name="uq_tasks_dedupe_key"),
    CheckConstraint("attempt >= 0", name="ck_tasks_attempt"),
    Index("ix_tasks_state", "org_id", "state", "created_at", "task_id"),
    Index(
        "ix_tasks_graph",
        "org_id",
        "dag_version_id",
        sqlite_where=_NOT_OVER,
        postgresql_where=_NOT_OVER,
    ),
    Index(
        "ix_tasks_queue",
        "org_id",
        "labels",
        text("priority DESC"),
        "due_at",
        "task_id",
        sqlite_where=_QUEUED,
        postgresql_where=_QUEUED,
    ),
    Index(
        "ix_tasks_waiting",
        "job_id",
        "org_id",
        "labels",
        text("priority DESC"),
        "due_at",
        "task_id",
        sqlite_where=_QUEUED,
        postgresql_where=_QUEUED,
    ),
    Index("ix_tasks_job", "org_id", "job_id", "state"),
    Index("ix_tasks_retry", "org_id", "due_at", sqlite_where=_FAILED, postgresql_where=_FAILED),
    Index(
        "ix_tasks_ended",
        "org_id",
        "job_id",
        "ended_at",
        "task_id",
        sqlite_where=_ENDED,
        postgresql_where=_ENDED,
    ),
)

task_attempts = Table(
    "task_attempts",
    metadata,
    Column("task_id", Id, ForeignKey("tasks.task_id"), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("run_id", Id, nullable=False, unique=True),
    Column("org_id", Id, nullable=False),
    Column("started_at", UtcTime, nullable=False),
    Column("worker", Long, nullable=False),
    Column("config_hash", Hash),
    PrimaryKeyConstraint("task_id", "attempt", name="pk_task_attempts"),
)

run_openings = Table(
    "run_openings",
    metadata,
    Column("run_id", Id, ForeignKey("task_attempts.run_id"), primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("dataset_id", Id, nullable=False),
    Column("dataset_revision", Integer, nullable=False),
    Column("plan_hash", Hash, nullable=False),
    Column("pinned_hash", Hash, nullable=False),
    Column("base_version", Integer),
    Column("base_commit", Integer),
    Column("opened_at", UtcTime, nullable=False),
    Column("bundle_hash", Hash),
)

run_schemas = Table(
    "run_schemas",
    metadata,
    Column("run_id", Id, ForeignKey("task_attempts.run_id"), primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("live_hash", Hash, nullable=False),
    Column("verdict_hash", Hash, nullable=False),
    Column("submitted_at", UtcTime, nullable=False),
)

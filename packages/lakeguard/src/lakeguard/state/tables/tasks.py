"""Tables of tasks, attempts, job graphs, schedules, trigger cursors and streams."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
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

from lakeguard.state.tables.metadata import (
    Hash,
    Id,
    Long,
    Name,
    UtcTime,
    Word,
    metadata,
    partial_index,
)

_QUEUED = text("state = 'queued'")
_UNSTARTED = text("state = 'queued' AND due_at IS NULL")
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
    partial_index(
        "ix_tasks_graph",
        "org_id",
        "dag_version_id",
        where=_NOT_OVER,
    ),
    partial_index(
        "ix_tasks_queue",
        "org_id",
        "labels",
        text("priority DESC"),
        "due_at",
        "task_id",
        where=_QUEUED,
    ),
    partial_index(
        "ix_tasks_waiting",
        "job_id",
        "org_id",
        "labels",
        text("priority DESC"),
        "due_at",
        "task_id",
        where=_QUEUED,
    ),
    partial_index(
        "ix_tasks_unstarted",
        "org_id",
        "task_id",
        where=_UNSTARTED,
    ),
    Index("ix_tasks_job", "org_id", "job_id", "state"),
    partial_index("ix_tasks_retry", "org_id", "due_at", where=_FAILED),
    partial_index(
        "ix_tasks_ended",
        "org_id",
        "job_id",
        "ended_at",
        "task_id",
        where=_ENDED,
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
    Index("ix_run_openings_dataset", "dataset_id", "opened_at"),
)

run_schemas = Table(
    "run_schemas",
    metadata,
    Column("run_id", Id, ForeignKey("task_attempts.run_id"), primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("live_hash", Hash, nullable=False),
    Column("verdict_hash", Hash, nullable=False),
    Column("submitted_at", UtcTime, nullable=False),
    Column("lineage_hash", Hash),
)


# Task transitions and results, active graph, schedules and trigger cursors.

task_transitions = Table(
    "task_transitions",
    metadata,
    Column("task_id", Id, ForeignKey("tasks.task_id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("org_id", Id, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("from_state", Word),
    Column("to_state", Word, nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("actor", Name, nullable=False),
    Column("code", Word),
    Column("message", Long),
    Column("due_at", UtcTime),
    PrimaryKeyConstraint("task_id", "number", name="pk_task_transitions"),
)

task_results = Table(
    "task_results",
    metadata,
    Column("run_id", Id, ForeignKey("task_attempts.run_id"), primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("task_id", Id, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("status", Word, nullable=False),
    Column("error_code", Word),
    Column("error_message", Long),
    Column("ended_at", UtcTime, nullable=False),
    Column("report_hash", Hash, nullable=False),
    Column("answer", Long, nullable=False),
    CheckConstraint("status IN ('SUCCESS', 'FAILED')", name="ck_task_results_status"),
)

output_materializations = Table(
    "output_materializations",
    metadata,
    Column("org_id", Id, nullable=False),
    Column("job_id", Id, nullable=False),
    Column("output", Word, nullable=False),
    Column("idempotency_key", Name, nullable=False),
    Column("task_id", Id, ForeignKey("tasks.task_id"), nullable=False),
    Column("run_id", Id, nullable=False),
    Column("location", Name),
    Column("rows", BigInteger),
    Column("bytes", BigInteger),
    Column("notes", Long),
    Column("created_at", UtcTime, nullable=False),
    PrimaryKeyConstraint(
        "org_id", "job_id", "output", "idempotency_key", name="pk_output_materializations"
    ),
)

dag_activations = Table(
    "dag_activations",
    metadata,
    Column("org_id", Id, nullable=False),
    Column("number", Integer, nullable=False),
    Column("dag_version_id", Id, ForeignKey("dag_versions.dag_version_id"), nullable=False),
    Column("activated_at", UtcTime, nullable=False),
    Column("actor", Name, nullable=False),
    Column("reason", Long, nullable=False),
    PrimaryKeyConstraint("org_id", "number", name="pk_dag_activations"),
)

job_switches = Table(
    "job_switches",
    metadata,
    Column("org_id", Id, nullable=False),
    Column("job_id", Id, nullable=False),
    Column("number", Integer, nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("switched_at", UtcTime, nullable=False),
    Column("actor", Name, nullable=False),
    Column("reason", Long, nullable=False),
    PrimaryKeyConstraint("org_id", "job_id", "number", name="pk_job_switches"),
)

job_schedules = Table(
    "job_schedules",
    metadata,
    Column("org_id", Id, nullable=False),
    Column("job_id", Id, nullable=False),
    Column("definition_hash", Hash, nullable=False),
    Column("next_at", UtcTime),
    Column("last_at", UtcTime),
    Column("applied", BigInteger, nullable=False),
    PrimaryKeyConstraint("org_id", "job_id", name="pk_job_schedules"),
    Index("ix_job_schedules_next", "org_id", "next_at"),
)

trigger_cursors = Table(
    "trigger_cursors",
    metadata,
    Column("org_id", Id, nullable=False),
    Column("job_id", Id, nullable=False),
    Column("watched", Name, nullable=False),
    Column("position", Long, nullable=False),
    PrimaryKeyConstraint("org_id", "job_id", "watched", name="pk_trigger_cursors"),
)

stream_reports = Table(
    "stream_reports",
    metadata,
    Column("org_id", Id, nullable=False),
    Column("dataset_id", Id, nullable=False),
    Column("query_id", Id, nullable=False),
    Column("state", Word, nullable=False),
    Column("reported_at", UtcTime, nullable=False),
    Column("process", Long, nullable=False),
    Column("progress", Long),
    Column("error", Long),
    PrimaryKeyConstraint("org_id", "dataset_id", "query_id", name="pk_stream_reports"),
)

received_events = Table(
    "received_events",
    metadata,
    Column("org_id", Id, nullable=False),
    Column("source", Name, nullable=False),
    Column("event_id", Name, nullable=False),
    Column("shape", Word, nullable=False),
    Column("type", Name, nullable=False),
    Column("body", Long, nullable=False),
    Column("body_hash", Hash, nullable=False),
    Column("received_at", UtcTime, nullable=False),
    Column("ordinal", BigInteger().with_variant(Integer, "sqlite"), nullable=False),
    PrimaryKeyConstraint("org_id", "source", "event_id", name="pk_received_events"),
    UniqueConstraint("org_id", "ordinal", name="uq_received_events_ordinal"),
)

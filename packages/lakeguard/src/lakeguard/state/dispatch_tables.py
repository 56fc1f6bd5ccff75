"""What became of tasks, which graph of them is active, and how far schedules and triggers are."""

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
)

from lakeguard.state.column_types import Hash, Id, Long, Name, UtcTime, Word
from lakeguard.state.metadata import metadata

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

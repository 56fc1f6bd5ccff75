"""Tasks wait, are tried again and end in more ways; graphs, schedules, partitions, events."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from lakeguard.state.column_types import UtcTime
from lakeguard.state.migrations.append_only import forbid_changes

revision = "0013"
down_revision = "0012"

_FIXED = (
    "task_id, org_id, kind, dataset_id, dedupe_key, parameters, triggered_by, created_at,"
    " max_attempts, job_id, priority, labels, dag_version_id, cause"
)


def upgrade() -> None:
    _queue()
    _tasks()
    _orders()
    _partitions()
    _events()
    forbid_changes(
        {
            "tasks": _FIXED,
            "task_transitions": "",
            "task_results": "",
            "output_materializations": "",
            "dag_activations": "",
            "job_switches": "",
            "job_schedules": "org_id, job_id",
            "trigger_cursors": "org_id, job_id, watched",
            "received_events": "",
            "partition_versions": "",
            "invalidation_progress": "",
            "invalidation_ends": "",
            "events": "",
            "event_channels": "",
            "event_deliveries": "",
        }
    )


def _queue() -> None:
    """Tasks of before were begun by who gave them, and stay so: they are due never.

    The guard has to know the new columns.
    """
    for column in (
        sa.Column("due_at", UtcTime()),
        sa.Column("priority", sa.Integer()),
        sa.Column("labels", sa.String(length=300)),
        sa.Column("dag_version_id", sa.String(length=64)),
        sa.Column("cause", sa.Text()),
        sa.Column("changes", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("ended_at", UtcTime()),
    ):
        op.add_column("tasks", column)
    op.add_column("task_attempts", sa.Column("config_hash", sa.String(length=80)))
    where = {state: sa.text(f"state = '{state}'") for state in ("queued", "failed")}
    op.create_index(
        "ix_tasks_queue",
        "tasks",
        ["org_id", "labels", sa.text("priority DESC"), "due_at", "task_id"],
        sqlite_where=where["queued"],
        postgresql_where=where["queued"],
    )
    op.create_index(
        "ix_tasks_waiting",
        "tasks",
        ["job_id", "org_id", "labels", sa.text("priority DESC"), "due_at", "task_id"],
        sqlite_where=where["queued"],
        postgresql_where=where["queued"],
    )
    op.create_index("ix_tasks_job", "tasks", ["org_id", "job_id", "state"])
    op.create_index(
        "ix_tasks_retry",
        "tasks",
        ["org_id", "due_at"],
        sqlite_where=where["failed"],
        postgresql_where=where["failed"],
    )
    ended = sa.text("ended_at IS NOT NULL")
    op.create_index(
        "ix_tasks_ended",
        "tasks",
        ["org_id", "job_id", "ended_at", "task_id"],
        sqlite_where=ended,
        postgresql_where=ended,
    )
    on = " ON tasks" if op.get_bind().dialect.name == "postgresql" else ""
    for guard in ("no_update", "no_delete", *(["no_truncate"] if on else [])):
        op.execute(f"DROP TRIGGER tasks_{guard}{on}")
    _let_attempts_grow()


def _let_attempts_grow() -> None:
    """Whoever tries a task again by hand may go beyond the attempts that it has by itself.

    SQLite cannot drop a constraint; it allows its text to be changed where no row is touched.
    """
    if op.get_bind().dialect.name == "postgresql":
        op.drop_constraint("ck_tasks_attempt", "tasks")
        op.create_check_constraint("ck_tasks_attempt", "tasks", "attempt >= 0")
        return
    version = op.get_bind().exec_driver_sql("PRAGMA schema_version").scalar_one()
    op.execute("PRAGMA writable_schema = ON")
    op.execute(
        "UPDATE sqlite_master SET sql = replace(sql, ' AND attempt <= max_attempts', '')"
        " WHERE type = 'table' AND name = 'tasks'"
    )
    op.execute(f"PRAGMA schema_version = {version + 1}")
    op.execute("PRAGMA writable_schema = RESET")


def _tasks() -> None:
    op.create_table(
        "task_transitions",
        sa.Column("task_id", sa.String(length=64), sa.ForeignKey("tasks.task_id"), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("from_state", sa.String(length=40)),
        sa.Column("to_state", sa.String(length=40), nullable=False),
        sa.Column("at", UtcTime(), nullable=False),
        sa.Column("actor", sa.String(length=300), nullable=False),
        sa.Column("code", sa.String(length=40)),
        sa.Column("message", sa.Text()),
        sa.Column("due_at", UtcTime()),
        sa.PrimaryKeyConstraint("task_id", "number", name="pk_task_transitions"),
    )
    op.create_table(
        "task_results",
        sa.Column(
            "run_id", sa.String(length=64), sa.ForeignKey("task_attempts.run_id"), primary_key=True
        ),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("task_id", sa.String(length=64), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=40), nullable=False),
        sa.Column("error_code", sa.String(length=40)),
        sa.Column("error_message", sa.Text()),
        sa.Column("ended_at", UtcTime(), nullable=False),
        sa.Column("report_hash", sa.String(length=80), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.CheckConstraint("status IN ('SUCCESS', 'FAILED')", name="ck_task_results_status"),
    )
    op.create_table(
        "output_materializations",
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("job_id", sa.String(length=64), nullable=False),
        sa.Column("output", sa.String(length=40), nullable=False),
        sa.Column("idempotency_key", sa.String(length=300), nullable=False),
        sa.Column("task_id", sa.String(length=64), sa.ForeignKey("tasks.task_id"), nullable=False),
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("location", sa.String(length=300)),
        sa.Column("rows", sa.BigInteger()),
        sa.Column("bytes", sa.BigInteger()),
        sa.Column("notes", sa.Text()),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint(
            "org_id", "job_id", "output", "idempotency_key", name="pk_output_materializations"
        ),
    )


def _orders() -> None:
    op.create_table(
        "dag_activations",
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column(
            "dag_version_id",
            sa.String(length=64),
            sa.ForeignKey("dag_versions.dag_version_id"),
            nullable=False,
        ),
        sa.Column("activated_at", UtcTime(), nullable=False),
        sa.Column("actor", sa.String(length=300), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("org_id", "number", name="pk_dag_activations"),
    )
    op.create_table(
        "job_switches",
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("job_id", sa.String(length=64), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("switched_at", UtcTime(), nullable=False),
        sa.Column("actor", sa.String(length=300), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("org_id", "job_id", "number", name="pk_job_switches"),
    )
    op.create_table(
        "job_schedules",
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("job_id", sa.String(length=64), nullable=False),
        sa.Column("definition_hash", sa.String(length=80), nullable=False),
        sa.Column("next_at", UtcTime()),
        sa.Column("last_at", UtcTime()),
        sa.Column("applied", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("org_id", "job_id", name="pk_job_schedules"),
    )
    op.create_index("ix_job_schedules_next", "job_schedules", ["org_id", "next_at"])
    op.create_table(
        "trigger_cursors",
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("job_id", sa.String(length=64), nullable=False),
        sa.Column("watched", sa.String(length=300), nullable=False),
        sa.Column("position", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("org_id", "job_id", "watched", name="pk_trigger_cursors"),
    )
    op.create_table(
        "received_events",
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("source", sa.String(length=300), nullable=False),
        sa.Column("event_id", sa.String(length=300), nullable=False),
        sa.Column("shape", sa.String(length=40), nullable=False),
        sa.Column("type", sa.String(length=300), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("body_hash", sa.String(length=80), nullable=False),
        sa.Column("received_at", UtcTime(), nullable=False),
        sa.Column("ordinal", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.PrimaryKeyConstraint("org_id", "source", "event_id", name="pk_received_events"),
        sa.UniqueConstraint("org_id", "ordinal", name="uq_received_events_ordinal"),
    )


def _partitions() -> None:
    op.create_table(
        "partition_versions",
        sa.Column("dataset_id", sa.String(length=64), nullable=False),
        sa.Column("partition_key", sa.String(length=300), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("materialized_at", UtcTime(), nullable=False),
        sa.Column("config_hash", sa.String(length=80), nullable=False),
        sa.Column("schema_hash", sa.String(length=80), nullable=False),
        sa.Column("location", sa.String(length=300), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint(
            "dataset_id", "partition_key", "version", name="pk_partition_versions"
        ),
    )
    op.create_index(
        "ix_partition_versions_version", "partition_versions", ["dataset_id", "version"]
    )
    op.create_table(
        "invalidation_progress",
        sa.Column(
            "invalidation_id",
            sa.String(length=64),
            sa.ForeignKey("invalidations.invalidation_id"),
            nullable=False,
        ),
        sa.Column("dataset_id", sa.String(length=64), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("outcome", sa.String(length=40), nullable=False),
        sa.Column("run_id", sa.String(length=64)),
        sa.Column("version", sa.BigInteger()),
        sa.Column("at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("invalidation_id", "dataset_id", name="pk_invalidation_progress"),
        sa.CheckConstraint(
            "outcome IN ('caught_up', 'not_affected')", name="ck_invalidation_progress_outcome"
        ),
    )
    op.create_table(
        "invalidation_ends",
        sa.Column(
            "invalidation_id",
            sa.String(length=64),
            sa.ForeignKey("invalidations.invalidation_id"),
            primary_key=True,
        ),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("outcome", sa.String(length=40), nullable=False),
        sa.Column("ended_at", UtcTime(), nullable=False),
        sa.Column("actor", sa.String(length=300), nullable=False),
        sa.Column("reason", sa.Text()),
        sa.CheckConstraint("outcome IN ('done', 'withdrawn')", name="ck_invalidation_ends_outcome"),
    )
    op.add_column("invalidations", sa.Column("why", sa.Text()))
    op.create_index("ix_version_inputs_input", "version_inputs", ["input_dataset_id"])


def _events() -> None:
    op.create_table(
        "events",
        sa.Column("event_id", sa.String(length=64), primary_key=True),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("type", sa.String(length=40), nullable=False),
        sa.Column("subject", sa.String(length=300), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("happened_at", UtcTime(), nullable=False),
    )
    op.create_index("ix_events_happened", "events", ["org_id", "happened_at"])
    op.create_table(
        "event_channels",
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("channel", sa.String(length=40), nullable=False),
        sa.Column("opened_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("org_id", "channel", name="pk_event_channels"),
    )
    op.create_table(
        "event_deliveries",
        sa.Column(
            "event_id", sa.String(length=64), sa.ForeignKey("events.event_id"), nullable=False
        ),
        sa.Column("channel", sa.String(length=40), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("outcome", sa.String(length=40), nullable=False),
        sa.Column("tried_at", UtcTime(), nullable=False),
        sa.Column("error", sa.Text()),
        sa.PrimaryKeyConstraint("event_id", "channel", "attempt", name="pk_event_deliveries"),
        sa.CheckConstraint(
            "outcome IN ('sent', 'failed', 'dead')", name="ck_event_deliveries_outcome"
        ),
    )
    op.create_index(
        "uq_event_deliveries_sent",
        "event_deliveries",
        ["event_id", "channel"],
        unique=True,
        sqlite_where=sa.text("outcome = 'sent'"),
        postgresql_where=sa.text("outcome = 'sent'"),
    )

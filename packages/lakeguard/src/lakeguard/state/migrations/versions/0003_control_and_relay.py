"""Targets, jobs, profiles and the rule catalogue; the relay's tables; the platform's."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from lakeguard.state.column_types import UtcTime
from lakeguard.state.migrations.append_only import forbid_changes

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    _create_tables()
    op.add_column("quality_rules_revisions", sa.Column("column_name", sa.String(length=300)))
    op.add_column("run_openings", sa.Column("bundle_hash", sa.String(length=80)))
    op.add_column("tasks", sa.Column("job_id", sa.String(length=64)))
    _drop_trigger("tasks", "no_update")
    _drop_trigger("tasks", "no_delete")
    _drop_trigger("outbox", "no_delete")
    if op.get_bind().dialect.name == "postgresql":
        _drop_trigger("tasks", "no_truncate")
        _drop_trigger("outbox", "no_truncate")
    forbid_changes(_FIXED_COLUMNS)


def _drop_trigger(table: str, name: str) -> None:
    on = f" ON {table}" if op.get_bind().dialect.name == "postgresql" else ""
    op.execute(f"DROP TRIGGER {table}_{name}{on}")


def _create_tables() -> None:
    op.create_table(
        "audit_chain",
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("batch", sa.BigInteger(), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("tables", sa.Text(), nullable=False),
        sa.Column("previous", sa.String(length=80), nullable=False),
        sa.Column("head", sa.String(length=80), nullable=False),
        sa.Column("stamped_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("org_id", "batch", name="pk_audit_chain"),
    )
    op.create_table(
        "column_lineage",
        sa.Column("dataset_id", sa.String(length=64), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("column_name", sa.String(length=300), nullable=False),
        sa.Column("input_dataset_id", sa.String(length=64), nullable=False),
        sa.Column("input_column", sa.String(length=300), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint(
            "dataset_id",
            "version",
            "column_name",
            "input_dataset_id",
            "input_column",
            name="pk_column_lineage",
        ),
    )
    op.create_table(
        "dag_versions",
        sa.Column("dag_version_id", sa.String(length=64), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("content_hash", sa.String(length=80), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("dag_version_id"),
        sa.UniqueConstraint("org_id", "content_hash", name="uq_dag_versions_content"),
    )
    op.create_table(
        "data_profiling_results",
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("source_object_id", sa.String(length=64), nullable=False),
        sa.Column("column_name", sa.String(length=300), nullable=False),
        sa.Column("metric_name", sa.String(length=40), nullable=False),
        sa.Column("metric_value", sa.Text(), nullable=True),
        sa.Column("metric_params", sa.Text(), nullable=False),
        sa.Column("sample_size", sa.BigInteger(), nullable=False),
        sa.Column("profiled_at", UtcTime(), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint(
            "run_id",
            "source_object_id",
            "column_name",
            "metric_name",
            name="pk_data_profiling_results",
        ),
    )
    op.create_table(
        "invalidations",
        sa.Column("invalidation_id", sa.String(length=64), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("dataset_id", sa.String(length=64), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("reason", sa.String(length=40), nullable=False),
        sa.Column("caused_by", sa.String(length=64), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("created_by", sa.String(length=300), nullable=False),
        sa.PrimaryKeyConstraint("invalidation_id"),
    )
    op.create_table(
        "metadata_kinds",
        sa.Column("kind", sa.String(length=300), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("json_schema", sa.Text(), nullable=False),
        sa.Column("retention_days", sa.Integer(), nullable=True),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("org_id", "kind", "revision", name="pk_metadata_kinds"),
    )
    op.create_table(
        "metadata_records",
        sa.Column("record_id", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=300), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("produced_at", UtcTime(), nullable=False),
        sa.Column("producer_id", sa.String(length=300), nullable=False),
        sa.Column("version", sa.String(length=300), nullable=True),
        sa.Column("quality", sa.Text(), nullable=True),
        sa.Column("extras", sa.Text(), nullable=True),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("context", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("record_id"),
    )
    op.create_table(
        "organizations",
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("org_name", sa.String(length=300), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("org_id"),
    )
    op.create_table(
        "plane_identity",
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("state_id", sa.String(length=64), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("org_id"),
    )
    op.create_table(
        "relay_cursors",
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("consumer", sa.String(length=40), nullable=False),
        sa.Column("batch", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("org_id", "consumer", name="pk_relay_cursors"),
    )
    op.create_table(
        "users",
        sa.Column("user_id", sa.String(length=64), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("user_name", sa.String(length=300), nullable=False),
        sa.Column("role", sa.String(length=40), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("user_id"),
        sa.UniqueConstraint("org_id", "user_name", name="uq_users_name"),
    )
    op.create_table(
        "dq_rule_catalog_revisions",
        sa.Column("rule_name", sa.String(length=300), nullable=False),
        sa.Column("rule_expression", sa.Text(), nullable=False),
        sa.Column("severity", sa.String(length=40), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("revised_at", UtcTime(), nullable=False),
        sa.Column("revised_by", sa.String(length=300), nullable=False),
        sa.Column("apply_id", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["apply_id"],
            ["registry_applies.apply_id"],
        ),
        sa.PrimaryKeyConstraint(
            "org_id", "rule_name", "revision", name="pk_dq_rule_catalog_revisions"
        ),
    )
    op.create_table(
        "md_jobs_revisions",
        sa.Column("job_id", sa.String(length=64), nullable=False),
        sa.Column("job_name", sa.String(length=300), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("owner", sa.String(length=300), nullable=False),
        sa.Column("job_type", sa.String(length=300), nullable=False),
        sa.Column("status", sa.String(length=40), nullable=False),
        sa.Column("dataset_name", sa.String(length=300), nullable=True),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("definition_hash", sa.String(length=80), nullable=False),
        sa.Column("definition", sa.Text(), nullable=False),
        sa.Column("revised_at", UtcTime(), nullable=False),
        sa.Column("revised_by", sa.String(length=300), nullable=False),
        sa.Column("apply_id", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["apply_id"],
            ["registry_applies.apply_id"],
        ),
        sa.PrimaryKeyConstraint("job_id", "revision", name="pk_md_jobs_revisions"),
        sa.UniqueConstraint("org_id", "job_name", "revision", name="uq_md_jobs_name"),
    )
    op.create_table(
        "md_tgt_ctrl_revisions",
        sa.Column("target_id", sa.String(length=64), nullable=False),
        sa.Column("location", sa.String(length=300), nullable=False),
        sa.Column("target_type", sa.String(length=40), nullable=False),
        sa.Column("zone", sa.String(length=300), nullable=False),
        sa.Column("status", sa.String(length=40), nullable=False),
        sa.Column("target_name", sa.String(length=300), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("definition_hash", sa.String(length=80), nullable=False),
        sa.Column("definition", sa.Text(), nullable=False),
        sa.Column("revised_at", UtcTime(), nullable=False),
        sa.Column("revised_by", sa.String(length=300), nullable=False),
        sa.Column("apply_id", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["apply_id"],
            ["registry_applies.apply_id"],
        ),
        sa.PrimaryKeyConstraint("target_id", "revision", name="pk_md_tgt_ctrl_revisions"),
        sa.UniqueConstraint("org_id", "target_name", "revision", name="uq_md_tgt_ctrl_name"),
    )
    op.create_table(
        "schema_compatibility_rules_revisions",
        sa.Column("profile_name", sa.String(length=300), nullable=False),
        sa.Column("allow_column_drop", sa.Boolean(), nullable=False),
        sa.Column("allow_type_widen", sa.Boolean(), nullable=False),
        sa.Column("allow_type_narrow", sa.Boolean(), nullable=False),
        sa.Column("allow_nullable_change", sa.Boolean(), nullable=False),
        sa.Column("auto_add_columns", sa.Boolean(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("revised_at", UtcTime(), nullable=False),
        sa.Column("revised_by", sa.String(length=300), nullable=False),
        sa.Column("apply_id", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["apply_id"],
            ["registry_applies.apply_id"],
        ),
        sa.PrimaryKeyConstraint(
            "org_id", "profile_name", "revision", name="pk_schema_compatibility_rules_revisions"
        ),
    )


_FIXED_COLUMNS = {
    "tasks": "task_id, org_id, kind, dataset_id, dedupe_key, parameters, triggered_by,"
    " created_at, max_attempts, job_id",
    "relay_cursors": "org_id, consumer",
    "audit_chain": "",
    "column_lineage": "",
    "dag_versions": "",
    "data_profiling_results": "",
    "invalidations": "",
    "metadata_kinds": "",
    "metadata_records": "",
    "organizations": "",
    "plane_identity": "",
    "users": "",
    "dq_rule_catalog_revisions": "",
    "md_jobs_revisions": "",
    "md_tgt_ctrl_revisions": "",
    "schema_compatibility_rules_revisions": "",
}
"""Each table and the columns that never change; none named means all of them."""

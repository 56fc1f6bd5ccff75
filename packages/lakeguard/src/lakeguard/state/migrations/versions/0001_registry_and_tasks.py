"""Registry revisions, tasks and their attempts, documents, outbox."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from lakeguard.state.column_types import UtcTime
from lakeguard.state.migrations.append_only import forbid_changes

revision = "0001"
down_revision = None


def upgrade() -> None:
    _create_tables()
    for name, select in _VIEWS.items():
        op.execute(f"CREATE VIEW {name} AS {select}")
    forbid_changes(_FIXED_COLUMNS)


def _create_tables() -> None:
    op.create_table(
        "documents",
        sa.Column("content_hash", sa.String(length=80), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("org_id", "content_hash", name="pk_documents"),
    )
    op.create_table(
        "outbox",
        sa.Column(
            "outbox_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("topic", sa.String(length=40), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("batch", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("outbox_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_outbox_batch", "outbox", ["batch"], unique=False)
    op.create_table(
        "registry_applies",
        sa.Column("apply_id", sa.String(length=64), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("ordinal", sa.BigInteger(), nullable=False),
        sa.Column("registry_head", sa.String(length=80), nullable=False),
        sa.Column("steps", sa.Integer(), nullable=False),
        sa.Column("plan_hash", sa.String(length=80), nullable=False),
        sa.Column("applied_at", UtcTime(), nullable=False),
        sa.Column("applied_by", sa.String(length=300), nullable=False),
        sa.PrimaryKeyConstraint("apply_id"),
        sa.UniqueConstraint("org_id", "ordinal", name="uq_registry_applies_ordinal"),
    )
    op.create_table(
        "tasks",
        sa.Column("task_id", sa.String(length=64), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("dataset_id", sa.String(length=64), nullable=False),
        sa.Column("dedupe_key", sa.String(length=300), nullable=False),
        sa.Column("parameters", sa.Text(), nullable=False),
        sa.Column("triggered_by", sa.String(length=300), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("max_attempts", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=40), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.String(length=64), nullable=True),
        sa.Column("lease_token", sa.String(length=64), nullable=True),
        sa.Column("lease_expires_at", UtcTime(), nullable=True),
        sa.Column("worker", sa.Text(), nullable=True),
        sa.CheckConstraint("attempt >= 0 AND attempt <= max_attempts", name="ck_tasks_attempt"),
        sa.PrimaryKeyConstraint("task_id"),
        sa.UniqueConstraint("org_id", "dataset_id", "dedupe_key", name="uq_tasks_dedupe_key"),
    )
    op.create_index("ix_tasks_state", "tasks", ["state", "lease_expires_at"], unique=False)
    op.create_table(
        "dataset_registry_revisions",
        sa.Column("dataset_id", sa.String(length=64), nullable=False),
        sa.Column("dataset_name", sa.String(length=300), nullable=False),
        sa.Column("domain", sa.String(length=300), nullable=False),
        sa.Column("layer", sa.String(length=40), nullable=False),
        sa.Column("owner", sa.String(length=300), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("definition_hash", sa.String(length=80), nullable=False),
        sa.Column("definition", sa.Text(), nullable=False),
        sa.Column("location", sa.String(length=300), nullable=False),
        sa.Column("revised_at", UtcTime(), nullable=False),
        sa.Column("revised_by", sa.String(length=300), nullable=False),
        sa.Column("apply_id", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["apply_id"],
            ["registry_applies.apply_id"],
        ),
        sa.PrimaryKeyConstraint("dataset_id", "revision", name="pk_dataset_registry_revisions"),
        sa.UniqueConstraint("org_id", "dataset_name", "revision", name="uq_dataset_registry_name"),
    )
    op.create_table(
        "policy_rules_revisions",
        sa.Column("policy_id", sa.String(length=300), nullable=False),
        sa.Column("applies_to_layer", sa.String(length=40), nullable=False),
        sa.Column("policy_type", sa.String(length=40), nullable=False),
        sa.Column("policy_expression", sa.Text(), nullable=False),
        sa.Column("enforcement", sa.String(length=40), nullable=False),
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
            "org_id", "policy_id", "revision", name="pk_policy_rules_revisions"
        ),
    )
    op.create_table(
        "quality_rules_revisions",
        sa.Column("rule_id", sa.String(length=300), nullable=False),
        sa.Column("dataset_id", sa.String(length=64), nullable=False),
        sa.Column("layer", sa.String(length=40), nullable=False),
        sa.Column("rule_type", sa.String(length=40), nullable=False),
        sa.Column("rule_expression", sa.Text(), nullable=False),
        sa.Column("severity", sa.String(length=40), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("removed", sa.Boolean(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("revised_at", UtcTime(), nullable=False),
        sa.Column("apply_id", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["apply_id"],
            ["registry_applies.apply_id"],
        ),
        sa.PrimaryKeyConstraint(
            "dataset_id", "rule_id", "revision", name="pk_quality_rules_revisions"
        ),
    )
    op.create_table(
        "source_systems_revisions",
        sa.Column("source_system_id", sa.String(length=64), nullable=False),
        sa.Column("source_name", sa.String(length=300), nullable=False),
        sa.Column("source_type", sa.String(length=40), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
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
        sa.PrimaryKeyConstraint("source_system_id", "revision", name="pk_source_systems_revisions"),
        sa.UniqueConstraint("org_id", "source_name", "revision", name="uq_source_systems_name"),
    )
    op.create_table(
        "task_attempts",
        sa.Column("task_id", sa.String(length=64), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("started_at", UtcTime(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["task_id"],
            ["tasks.task_id"],
        ),
        sa.PrimaryKeyConstraint("task_id", "attempt", name="pk_task_attempts"),
        sa.UniqueConstraint("run_id"),
    )
    op.create_table(
        "run_openings",
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("dataset_id", sa.String(length=64), nullable=False),
        sa.Column("dataset_revision", sa.Integer(), nullable=False),
        sa.Column("plan_hash", sa.String(length=80), nullable=False),
        sa.Column("pinned_hash", sa.String(length=80), nullable=False),
        sa.Column("base_version", sa.Integer(), nullable=True),
        sa.Column("base_commit", sa.Integer(), nullable=True),
        sa.Column("opened_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"],
            ["task_attempts.run_id"],
        ),
        sa.PrimaryKeyConstraint("run_id"),
    )
    op.create_table(
        "run_schemas",
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("live_hash", sa.String(length=80), nullable=False),
        sa.Column("verdict_hash", sa.String(length=80), nullable=False),
        sa.Column("submitted_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"],
            ["task_attempts.run_id"],
        ),
        sa.PrimaryKeyConstraint("run_id"),
    )


_VIEWS = {
    "dataset_registry": (
        "SELECT r.dataset_id, r.dataset_name, r.domain, r.layer, r.owner, r.description, "
        "r.active, (SELECT f.revised_at FROM dataset_registry_revisions f WHERE f.dataset_id "
        "= r.dataset_id AND f.revision = 1) AS created_at, r.org_id, r.revision, "
        "r.definition_hash, r.definition, r.location, r.revised_at, r.revised_by, r.apply_id "
        "FROM dataset_registry_revisions r WHERE NOT EXISTS (SELECT 1 FROM "
        "dataset_registry_revisions n WHERE n.dataset_id = r.dataset_id AND n.revision > "
        "r.revision)"
    ),
    "quality_rules": (
        "SELECT r.rule_id, r.dataset_id, r.layer, r.rule_type, r.rule_expression, r.severity,"
        " r.active, r.org_id, r.revision, r.position FROM quality_rules_revisions r WHERE NOT"
        " r.removed AND NOT EXISTS (SELECT 1 FROM quality_rules_revisions n WHERE "
        "n.dataset_id = r.dataset_id AND n.rule_id = r.rule_id AND n.revision > r.revision)"
    ),
    "policy_rules": (
        "SELECT r.policy_id, r.applies_to_layer, r.policy_type, r.policy_expression, "
        "r.enforcement, r.active, r.org_id, r.revision FROM policy_rules_revisions r WHERE "
        "NOT EXISTS (SELECT 1 FROM policy_rules_revisions n WHERE n.org_id = r.org_id AND "
        "n.policy_id = r.policy_id AND n.revision > r.revision)"
    ),
    "source_systems": (
        "SELECT r.source_system_id, r.source_name, r.source_type, r.active, r.org_id, "
        "r.revision, r.definition_hash, r.definition FROM source_systems_revisions r WHERE "
        "NOT EXISTS (SELECT 1 FROM source_systems_revisions n WHERE n.source_system_id = "
        "r.source_system_id AND n.revision > r.revision)"
    ),
}

_FIXED_COLUMNS = {
    "documents": "",
    "outbox": ("outbox_id, org_id, topic, payload, created_at"),
    "registry_applies": "",
    "tasks": (
        "task_id, org_id, kind, dataset_id, dedupe_key, parameters, triggered_by, created_at,"
        " max_attempts"
    ),
    "dataset_registry_revisions": "",
    "policy_rules_revisions": "",
    "quality_rules_revisions": "",
    "source_systems_revisions": "",
    "task_attempts": "",
    "run_openings": "",
    "run_schemas": "",
}
"""Each table and the columns that never change; none named means all of them."""

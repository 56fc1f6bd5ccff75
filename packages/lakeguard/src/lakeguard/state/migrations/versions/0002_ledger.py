"""The ledger: runs, decisions, moves, versions, pointers, lineage."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from lakeguard.state.column_types import UtcTime
from lakeguard.state.migrations.append_only import forbid_changes

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    _create_tables()
    for name, select in _VIEWS.items():
        op.execute(f"CREATE VIEW {name} AS {select}")
    forbid_changes(_FIXED_COLUMNS)


def _create_tables() -> None:
    op.create_table(
        "governed_tables",
        sa.Column("dataset_id", sa.String(length=64), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("location", sa.String(length=300), nullable=False),
        sa.Column("table_id", sa.String(length=64), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("dataset_id"),
        sa.UniqueConstraint("table_id"),
    )
    op.create_table(
        "version_inputs",
        sa.Column("dataset_id", sa.String(length=64), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("input_dataset_id", sa.String(length=64), nullable=False),
        sa.Column("input_dataset_name", sa.String(length=300), nullable=False),
        sa.Column("input_version", sa.BigInteger(), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint(
            "dataset_id", "version", "input_dataset_id", name="pk_version_inputs"
        ),
    )
    op.create_table(
        "materializations",
        sa.Column("materialization_id", sa.String(length=64), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("dataset_id", sa.String(length=64), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("task_id", sa.String(length=64), nullable=False),
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("idempotency_key", sa.String(length=300), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["task_id"],
            ["tasks.task_id"],
        ),
        sa.PrimaryKeyConstraint("materialization_id"),
        sa.UniqueConstraint("dataset_id", "version", name="uq_materializations_version"),
        sa.UniqueConstraint(
            "org_id", "dataset_id", "idempotency_key", name="uq_materializations_idempotency_key"
        ),
        sa.UniqueConstraint("task_id"),
    )
    op.create_table(
        "decisions",
        sa.Column("decision_id", sa.String(length=64), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("dataset_id", sa.String(length=64), nullable=False),
        sa.Column("verdict", sa.String(length=40), nullable=False),
        sa.Column("semantics", sa.Integer(), nullable=False),
        sa.Column("facts_hash", sa.String(length=80), nullable=False),
        sa.Column("evidence_hash", sa.String(length=80), nullable=True),
        sa.Column("ruleset_hash", sa.String(length=80), nullable=False),
        sa.Column("policies_hash", sa.String(length=80), nullable=False),
        sa.Column("history_hash", sa.String(length=80), nullable=False),
        sa.Column("decided_at", UtcTime(), nullable=False),
        sa.Column("ruling", sa.Text(), nullable=False),
        sa.CheckConstraint("verdict IN ('ALLOWED', 'BLOCKED')", name="ck_decisions_verdict"),
        sa.ForeignKeyConstraint(
            ["run_id"],
            ["task_attempts.run_id"],
        ),
        sa.PrimaryKeyConstraint("decision_id"),
        sa.UniqueConstraint("run_id"),
    )
    op.create_table(
        "run_history",
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("dataset_id", sa.String(length=64), nullable=False),
        sa.Column("layer", sa.String(length=40), nullable=False),
        sa.Column("status", sa.String(length=40), nullable=False),
        sa.Column("start_time", UtcTime(), nullable=False),
        sa.Column("end_time", UtcTime(), nullable=False),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("triggered_by", sa.String(length=300), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("task_id", sa.String(length=64), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("error_code", sa.String(length=40), nullable=True),
        sa.Column("decision_id", sa.String(length=64), nullable=True),
        sa.Column("version", sa.BigInteger(), nullable=True),
        sa.Column("result", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "status IN ('SUCCESS', 'FAILED', 'BLOCKED')", name="ck_run_history_status"
        ),
        sa.ForeignKeyConstraint(
            ["run_id"],
            ["task_attempts.run_id"],
        ),
        sa.PrimaryKeyConstraint("run_id"),
        sa.UniqueConstraint("task_id", "attempt", name="uq_run_history_attempt"),
    )
    op.create_index(
        "ix_run_history_dataset", "run_history", ["dataset_id", "end_time"], unique=False
    )
    op.create_table(
        "data_versions",
        sa.Column("dataset_id", sa.String(length=64), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("snapshot_ref", sa.String(length=300), nullable=False),
        sa.Column("schema_hash", sa.String(length=80), nullable=False),
        sa.Column("row_count", sa.BigInteger(), nullable=False),
        sa.Column("promoted_at", UtcTime(), nullable=False),
        sa.Column("promoted_by", sa.String(length=300), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("version_id", sa.String(length=64), nullable=False),
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("decision_id", sa.String(length=64), nullable=False),
        sa.Column("table_rows", sa.BigInteger(), nullable=False),
        sa.Column("table_id", sa.String(length=64), nullable=False),
        sa.Column("commit_version", sa.BigInteger(), nullable=False),
        sa.Column("commit_sha256", sa.String(length=80), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("table_schema", sa.Text(), nullable=False),
        sa.Column("ruleset_hash", sa.String(length=80), nullable=False),
        sa.Column("policies_hash", sa.String(length=80), nullable=False),
        sa.Column("build_hash", sa.String(length=80), nullable=False),
        sa.Column("position_hash", sa.String(length=80), nullable=True),
        sa.CheckConstraint("version >= 1", name="ck_data_versions_version"),
        sa.ForeignKeyConstraint(
            ["decision_id"],
            ["decisions.decision_id"],
        ),
        sa.PrimaryKeyConstraint("dataset_id", "version", name="pk_data_versions"),
        sa.UniqueConstraint("decision_id"),
        sa.UniqueConstraint("run_id"),
        sa.UniqueConstraint("version_id"),
    )
    op.create_table(
        "dataset_pointers",
        sa.Column("dataset_id", sa.String(length=64), nullable=False),
        sa.Column("ordinal", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("commit_version", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("moved_at", UtcTime(), nullable=False),
        sa.Column("actor", sa.String(length=300), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("decision_id", sa.String(length=64), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["decision_id"],
            ["decisions.decision_id"],
        ),
        sa.PrimaryKeyConstraint("dataset_id", "ordinal", name="pk_dataset_pointers"),
        sa.UniqueConstraint("decision_id"),
    )
    op.create_table(
        "intents",
        sa.Column("intent_id", sa.String(length=64), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("dataset_id", sa.String(length=64), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("decision_id", sa.String(length=64), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("opened_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["decision_id"],
            ["decisions.decision_id"],
        ),
        sa.ForeignKeyConstraint(
            ["run_id"],
            ["task_attempts.run_id"],
        ),
        sa.PrimaryKeyConstraint("intent_id"),
        sa.UniqueConstraint("dataset_id", "seq", name="uq_intents_seq"),
        sa.UniqueConstraint("decision_id"),
        sa.UniqueConstraint("run_id"),
    )
    op.create_table(
        "promotion_status",
        sa.Column("dataset_id", sa.String(length=64), nullable=False),
        sa.Column("from_layer", sa.String(length=40), nullable=False),
        sa.Column("to_layer", sa.String(length=40), nullable=False),
        sa.Column("allowed", sa.Boolean(), nullable=False),
        sa.Column("evaluated_at", UtcTime(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column(
            "ordinal",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("state", sa.String(length=40), nullable=False),
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("decision_id", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["decision_id"],
            ["decisions.decision_id"],
        ),
        sa.PrimaryKeyConstraint("ordinal"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_promotion_status_dataset",
        "promotion_status",
        ["dataset_id", "from_layer", "to_layer", "ordinal"],
        unique=False,
    )
    op.create_table(
        "intent_outcomes",
        sa.Column("intent_id", sa.String(length=64), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("outcome", sa.String(length=40), nullable=False),
        sa.Column("commit_version", sa.BigInteger(), nullable=False),
        sa.Column("commit_sha256", sa.String(length=80), nullable=False),
        sa.Column("closed_at", UtcTime(), nullable=False),
        sa.CheckConstraint(
            "outcome IN ('committed', 'fenced', 'foreign', 'gone')", name="ck_intent_outcome"
        ),
        sa.ForeignKeyConstraint(
            ["intent_id"],
            ["intents.intent_id"],
        ),
        sa.PrimaryKeyConstraint("intent_id"),
    )


_VIEWS = {
    "promotion_current": (
        "SELECT r.dataset_id, r.from_layer, r.to_layer, r.allowed, r.evaluated_at, r.reason, "
        "r.org_id, r.ordinal, r.state, r.run_id, r.decision_id FROM promotion_status r WHERE "
        "NOT EXISTS (SELECT 1 FROM promotion_status n WHERE n.dataset_id = r.dataset_id AND "
        "n.from_layer = r.from_layer AND n.to_layer = r.to_layer AND n.ordinal > r.ordinal)"
    ),
}

_FIXED_COLUMNS = {
    "governed_tables": "",
    "version_inputs": "",
    "materializations": "",
    "decisions": "",
    "run_history": "",
    "data_versions": "",
    "dataset_pointers": "",
    "intents": "",
    "promotion_status": "",
    "intent_outcomes": "",
}
"""Each table and the columns that never change; none named means all of them."""

"""A dataset has a promotion state from its registration on, before any run and any decision."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from lakeguard.state.column_types import UtcTime
from lakeguard.state.migrations.append_only import forbid_changes

revision = "0009"
down_revision = "0008"

_DECIDED = "state = 'REGISTERED' OR (run_id IS NOT NULL AND decision_id IS NOT NULL)"


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        for column in ("run_id", "decision_id"):
            op.alter_column("promotion_status", column, nullable=True)
        op.create_check_constraint("ck_promotion_status_decided", "promotion_status", _DECIDED)
    else:
        _make_anew()


def _make_anew() -> None:
    """SQLite cannot let a column be empty that could not be before: the rows move as they are."""
    op.rename_table("promotion_status", "promotion_status_before")
    op.create_table(
        "promotion_status",
        sa.Column("dataset_id", sa.String(length=64), nullable=False),
        sa.Column("from_layer", sa.String(length=40), nullable=False),
        sa.Column("to_layer", sa.String(length=40), nullable=False),
        sa.Column("allowed", sa.Boolean(), nullable=False),
        sa.Column("evaluated_at", UtcTime(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("ordinal", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("state", sa.String(length=40), nullable=False),
        sa.Column("run_id", sa.String(length=64)),
        sa.Column("decision_id", sa.String(length=64)),
        sa.CheckConstraint(_DECIDED, name="ck_promotion_status_decided"),
        sa.ForeignKeyConstraint(["decision_id"], ["decisions.decision_id"]),
        sa.PrimaryKeyConstraint("ordinal"),
        sqlite_autoincrement=True,
    )
    op.execute("INSERT INTO promotion_status SELECT * FROM promotion_status_before")
    op.drop_table("promotion_status_before")
    op.create_index(
        "ix_promotion_status_dataset",
        "promotion_status",
        ["dataset_id", "from_layer", "to_layer", "ordinal"],
    )
    forbid_changes({"promotion_status": ""})

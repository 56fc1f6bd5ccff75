"""Rows that rules kept out of a table, and what became of them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from lakeguard.state.column_types import UtcTime
from lakeguard.state.migrations.append_only import forbid_changes

revision = "0010"
down_revision = "0009"

_HOLDING = ["quarantine_holdings.run_id", "quarantine_holdings.rule_id"]


def upgrade() -> None:
    _holdings()
    _taken()
    _write_offs()
    forbid_changes({"quarantine_holdings": "", "quarantine_taken": "", "quarantine_write_offs": ""})


def _holdings() -> None:
    op.create_table(
        "quarantine_holdings",
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("rule_id", sa.String(length=300), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("dataset_id", sa.String(length=64), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("expression", sa.Text(), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("first_seen", UtcTime(), nullable=False),
        sa.Column("set_aside_at", UtcTime(), nullable=False),
        sa.Column("files", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "rule_id", name="pk_quarantine_holdings"),
        sa.ForeignKeyConstraint(
            ["dataset_id", "version"],
            ["data_versions.dataset_id", "data_versions.version"],
            name="fk_quarantine_holdings_version",
        ),
        sa.CheckConstraint("rows > 0", name="ck_quarantine_holdings_rows"),
    )
    op.create_index(
        "ix_quarantine_holdings_dataset", "quarantine_holdings", ["dataset_id", "version"]
    )


def _taken() -> None:
    op.create_table(
        "quarantine_taken",
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("holding_run_id", sa.String(length=64), nullable=False),
        sa.Column("rule_id", sa.String(length=300), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("dataset_id", sa.String(length=64), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "holding_run_id", "rule_id", name="pk_quarantine_taken"),
        sa.ForeignKeyConstraint(
            ["holding_run_id", "rule_id"], _HOLDING, name="fk_quarantine_taken_holding"
        ),
    )
    op.create_index("ix_quarantine_taken_dataset", "quarantine_taken", ["dataset_id", "version"])


def _write_offs() -> None:
    op.create_table(
        "quarantine_write_offs",
        sa.Column("write_off_id", sa.String(length=64), primary_key=True),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("dataset_id", sa.String(length=64), nullable=False),
        sa.Column("run_id", sa.String(length=64), nullable=False),
        sa.Column("rule_id", sa.String(length=300), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("actor", sa.String(length=300), nullable=False),
        sa.Column("written_off_at", UtcTime(), nullable=False),
        sa.UniqueConstraint("run_id", "rule_id", name="uq_quarantine_write_offs_holding"),
        sa.ForeignKeyConstraint(
            ["run_id", "rule_id"], _HOLDING, name="fk_quarantine_write_offs_holding"
        ),
        sa.CheckConstraint("reason <> ''", name="ck_quarantine_write_offs_reason"),
    )
    op.create_index("ix_quarantine_write_offs_dataset", "quarantine_write_offs", ["dataset_id"])

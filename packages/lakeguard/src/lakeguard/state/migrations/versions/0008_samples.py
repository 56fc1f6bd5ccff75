"""Samples of failing rows."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from lakeguard.state.column_types import UtcTime
from lakeguard.state.migrations.append_only import forbid_changes

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "rule_samples",
        sa.Column("run_id", sa.String(length=64), primary_key=True),
        sa.Column("rule_id", sa.String(length=300), primary_key=True),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("sample_columns", sa.Text(), nullable=False),
        sa.Column("sample_rows", sa.Text(), nullable=False),
        sa.Column("masked_columns", sa.Text(), nullable=False),
        sa.Column("taken_at", UtcTime(), nullable=False),
    )
    forbid_changes({"rule_samples": ""})

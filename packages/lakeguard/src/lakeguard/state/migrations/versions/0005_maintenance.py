"""What maintenance removed from tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from lakeguard.state.column_types import UtcTime
from lakeguard.state.migrations.append_only import forbid_changes

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "maintenance_log",
        sa.Column("maintenance_id", sa.String(length=64), primary_key=True),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("dataset_id", sa.String(length=64), nullable=False),
        sa.Column("at", UtcTime(), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("files", sa.BigInteger(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("actor", sa.String(length=300), nullable=False),
        sa.Column("details", sa.Text(), nullable=False),
    )
    op.create_index("ix_maintenance_log_dataset", "maintenance_log", ["dataset_id", "at"])
    forbid_changes({"maintenance_log": ""})

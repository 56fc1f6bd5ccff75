"""Waivers, and policies for domains and tags."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from lakeguard.state.column_types import UtcTime
from lakeguard.state.migrations.append_only import forbid_changes

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    for column in ("applies_to_domain", "applies_to_tag"):
        op.add_column("policy_rules_revisions", sa.Column(column, sa.String(length=300)))
    op.create_table(
        "waivers",
        sa.Column("waiver_id", sa.String(length=64), primary_key=True),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("dataset_id", sa.String(length=64), nullable=False),
        sa.Column("check_kind", sa.String(length=40), nullable=False),
        sa.Column("check_id", sa.String(length=300), nullable=False),
        sa.Column("expression", sa.Text(), nullable=False),
        sa.Column("approver", sa.String(length=300), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("granted_at", UtcTime(), nullable=False),
        sa.Column("granted_by", sa.String(length=300), nullable=False),
        sa.Column("until", UtcTime(), nullable=False),
        sa.CheckConstraint("check_kind IN ('rule', 'policy')", name="ck_waivers_kind"),
        sa.CheckConstraint("approver <> '' AND reason <> ''", name="ck_waivers_answered_for"),
    )
    op.create_index("ix_waivers_dataset", "waivers", ["dataset_id", "until"])
    op.create_table(
        "waiver_revocations",
        sa.Column(
            "waiver_id",
            sa.String(length=64),
            sa.ForeignKey("waivers.waiver_id"),
            primary_key=True,
        ),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("revoked_at", UtcTime(), nullable=False),
        sa.Column("revoked_by", sa.String(length=300), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
    )
    forbid_changes({"waivers": "", "waiver_revocations": ""})

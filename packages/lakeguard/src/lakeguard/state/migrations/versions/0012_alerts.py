"""Alerts, and who was told."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from lakeguard.state.column_types import UtcTime
from lakeguard.state.migrations.append_only import forbid_changes

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    _alerts()
    op.create_table(
        "alert_channels",
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("channel", sa.String(length=40), nullable=False),
        sa.Column("opened_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("org_id", "channel", name="pk_alert_channels"),
    )
    _deliveries()
    forbid_changes({"alerts": "", "alert_channels": "", "alert_deliveries": ""})


def _alerts() -> None:
    op.create_table(
        "alerts",
        sa.Column("alert_id", sa.String(length=64), primary_key=True),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("dataset_id", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("severity", sa.String(length=40), nullable=False),
        sa.Column("run_id", sa.String(length=64)),
        sa.Column("decision_id", sa.String(length=64)),
        sa.Column("check_id", sa.String(length=300)),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("raised_at", UtcTime(), nullable=False),
        sa.Column("dedupe_key", sa.String(length=80), nullable=False),
        sa.UniqueConstraint("org_id", "dedupe_key", name="uq_alerts_dedupe"),
        sa.CheckConstraint("severity IN ('WARN', 'FAIL')", name="ck_alerts_severity"),
    )
    op.create_index("ix_alerts_raised", "alerts", ["org_id", "raised_at"])


def _deliveries() -> None:
    op.create_table(
        "alert_deliveries",
        sa.Column(
            "alert_id", sa.String(length=64), sa.ForeignKey("alerts.alert_id"), nullable=False
        ),
        sa.Column("channel", sa.String(length=40), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("org_id", sa.String(length=64), nullable=False),
        sa.Column("outcome", sa.String(length=40), nullable=False),
        sa.Column("tried_at", UtcTime(), nullable=False),
        sa.Column("error", sa.Text()),
        sa.PrimaryKeyConstraint("alert_id", "channel", "attempt", name="pk_alert_deliveries"),
        sa.CheckConstraint(
            "outcome IN ('sent', 'failed', 'dead')", name="ck_alert_deliveries_outcome"
        ),
    )
    sent = sa.text("outcome = 'sent'")
    op.create_index(
        "uq_alert_deliveries_sent",
        "alert_deliveries",
        ["alert_id", "channel"],
        unique=True,
        sqlite_where=sent,
        postgresql_where=sent,
    )

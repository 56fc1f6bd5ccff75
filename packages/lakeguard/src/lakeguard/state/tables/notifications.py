"""Tables of alerts and events, their channels and delivery attempts."""

from __future__ import annotations

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
    text,
)

from lakeguard.state.tables.metadata import (
    Hash,
    Id,
    Long,
    Name,
    UtcTime,
    Word,
    metadata,
)

alerts = Table(
    "alerts",
    metadata,
    Column("alert_id", Id, primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("dataset_id", Id, nullable=False),
    Column("kind", Word, nullable=False),
    Column("severity", Word, nullable=False),
    Column("run_id", Id),
    Column("decision_id", Id),
    Column("check_id", Name),
    Column("message", Long, nullable=False),
    Column("payload", Long, nullable=False),
    Column("raised_at", UtcTime, nullable=False),
    Column("dedupe_key", Hash, nullable=False),
    UniqueConstraint("org_id", "dedupe_key", name="uq_alerts_dedupe"),
    CheckConstraint("severity IN ('WARN', 'FAIL')", name="ck_alerts_severity"),
    Index("ix_alerts_raised", "org_id", "raised_at"),
)

alert_channels = Table(
    "alert_channels",
    metadata,
    Column("org_id", Id, nullable=False),
    Column("channel", Word, nullable=False),
    Column("opened_at", UtcTime, nullable=False),
    PrimaryKeyConstraint("org_id", "channel", name="pk_alert_channels"),
)

_SENT = text("outcome = 'sent'")

alert_deliveries = Table(
    "alert_deliveries",
    metadata,
    Column("alert_id", Id, ForeignKey("alerts.alert_id"), nullable=False),
    Column("channel", Word, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("org_id", Id, nullable=False),
    Column("outcome", Word, nullable=False),
    Column("tried_at", UtcTime, nullable=False),
    Column("error", Long),
    PrimaryKeyConstraint("alert_id", "channel", "attempt", name="pk_alert_deliveries"),
    CheckConstraint("outcome IN ('sent', 'failed', 'dead')", name="ck_alert_deliveries_outcome"),
    Index(
        "uq_alert_deliveries_sent",
        "alert_id",
        "channel",
        unique=True,
        sqlite_where=_SENT,
        postgresql_where=_SENT,
    ),
)


# Events for other systems.

events = Table(
    "events",
    metadata,
    Column("event_id", Id, primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("type", Word, nullable=False),
    Column("subject", Name, nullable=False),
    Column("payload", Long, nullable=False),
    Column("happened_at", UtcTime, nullable=False),
    Index("ix_events_happened", "org_id", "happened_at"),
)

event_channels = Table(
    "event_channels",
    metadata,
    Column("org_id", Id, nullable=False),
    Column("channel", Word, nullable=False),
    Column("opened_at", UtcTime, nullable=False),
    PrimaryKeyConstraint("org_id", "channel", name="pk_event_channels"),
)


event_deliveries = Table(
    "event_deliveries",
    metadata,
    Column("event_id", Id, ForeignKey("events.event_id"), nullable=False),
    Column("channel", Word, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("org_id", Id, nullable=False),
    Column("outcome", Word, nullable=False),
    Column("tried_at", UtcTime, nullable=False),
    Column("error", Long),
    PrimaryKeyConstraint("event_id", "channel", "attempt", name="pk_event_deliveries"),
    CheckConstraint("outcome IN ('sent', 'failed', 'dead')", name="ck_event_deliveries_outcome"),
    Index(
        "uq_event_deliveries_sent",
        "event_id",
        "channel",
        unique=True,
        sqlite_where=_SENT,
        postgresql_where=_SENT,
    ),
)

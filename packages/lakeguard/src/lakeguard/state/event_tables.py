"""Events for others: what happened, and which channel has told it."""

from __future__ import annotations

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    text,
)

from lakeguard.state.column_types import Id, Long, Name, UtcTime, Word
from lakeguard.state.metadata import metadata

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

_SENT = text("outcome = 'sent'")

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

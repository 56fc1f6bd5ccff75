"""Tables of notifications, their channels and delivery attempts."""

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
    partial_index,
)

notifications = Table(
    "notifications",
    metadata,
    Column("notification_id", Id, primary_key=True),
    Column("org_id", Id, nullable=False),
    Column("topic", Word, nullable=False),
    Column("kind", Word, nullable=False),
    Column("severity", Word),
    Column("subject", Name, nullable=False),
    Column("payload", Long, nullable=False),
    Column("raised_at", UtcTime, nullable=False),
    Column("dedupe_key", Hash, nullable=False),
    UniqueConstraint("org_id", "dedupe_key", name="uq_notifications_dedupe"),
    CheckConstraint("topic IN ('alert', 'event')", name="ck_notifications_topic"),
    CheckConstraint(
        "(topic = 'alert') = (severity IS NOT NULL) AND severity IN ('WARN', 'FAIL')",
        name="ck_notifications_severity",
    ),
    Index("ix_notifications_raised", "org_id", "topic", "raised_at"),
    Index("ix_notifications_kind", "org_id", "kind"),
)

notification_channels = Table(
    "notification_channels",
    metadata,
    Column("org_id", Id, nullable=False),
    Column("topic", Word, nullable=False),
    Column("channel", Word, nullable=False),
    Column("opened_at", UtcTime, nullable=False),
    PrimaryKeyConstraint("org_id", "topic", "channel", name="pk_notification_channels"),
    CheckConstraint("topic IN ('alert', 'event')", name="ck_notification_channels_topic"),
)

_SENT = text("outcome = 'sent'")

notification_deliveries = Table(
    "notification_deliveries",
    metadata,
    Column("notification_id", Id, ForeignKey("notifications.notification_id"), nullable=False),
    Column("channel", Word, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("org_id", Id, nullable=False),
    Column("outcome", Word, nullable=False),
    Column("tried_at", UtcTime, nullable=False),
    Column("error", Long),
    PrimaryKeyConstraint(
        "notification_id", "channel", "attempt", name="pk_notification_deliveries"
    ),
    CheckConstraint(
        "outcome IN ('sent', 'failed', 'dead')", name="ck_notification_deliveries_outcome"
    ),
    partial_index(
        "uq_notification_deliveries_sent",
        "notification_id",
        "channel",
        unique=True,
        where=_SENT,
    ),
)

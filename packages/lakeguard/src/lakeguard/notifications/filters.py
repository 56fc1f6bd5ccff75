"""Which notifications a channel delivers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from fnmatch import fnmatchcase

from lakeguard.ledger.notifications.store import delivers_since
from lakeguard.settings import AlertChannel, EventChannel
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.model.notifications import (
    Alert,
    AlertRow,
    Event,
    EventRow,
    Notification,
    NotificationRow,
    Topic,
)

Channel = AlertChannel | EventChannel

RETENTION = timedelta(days=7)
"""Notifications older than this are not delivered any more."""


def matches(channel: Channel, notification: Notification) -> bool:
    """Whether the notification passes every filter of the channel."""
    if isinstance(channel, AlertChannel):
        return isinstance(notification, Alert) and _alert_matches(channel, notification)
    return isinstance(notification, Event) and _event_matches(channel, notification)


def with_waiting(
    tx: Transaction, channels: Sequence[Channel], rows: Iterable[NotificationRow]
) -> list[NotificationRow]:
    """Rows of events with the event channels that still have to send them; others unchanged."""
    oldest = tx.now() - RETENTION
    begins = {
        channel.name: delivers_since(tx, Topic.EVENT, channel.name, oldest) for channel in channels
    }

    def waits(channel: Channel, row: EventRow) -> bool:
        first = begins[channel.name]
        if first is None or row.event.happened_at < first:
            return False
        tried = any(delivery.channel == channel.name for delivery in row.deliveries)
        return not tried and matches(channel, row.event)

    def shown(row: NotificationRow) -> NotificationRow:
        if isinstance(row, AlertRow):
            return row
        waiting = tuple(channel.name for channel in channels if waits(channel, row))
        return row.model_copy(update={"waiting": waiting})

    return [shown(row) for row in rows]


def _alert_matches(channel: AlertChannel, alert: Alert) -> bool:
    return (
        _among(alert.kind, channel.kinds)
        and _among(alert.severity, channel.severities)
        and _among(alert.layer, channel.layers)
        and _like(alert.domain, channel.domains)
        and _like(alert.dataset, channel.datasets)
    )


def _event_matches(channel: EventChannel, event: Event) -> bool:
    return _among(event.kind, channel.kinds) and _like(event.subject, channel.subjects)


def _among(word: str, words: tuple[str, ...]) -> bool:
    return not words or word in words


def _like(text: str, patterns: tuple[str, ...]) -> bool:
    return not patterns or any(fnmatchcase(text, pattern) for pattern in patterns)

"""The book of alerts: what was raised, and what became of it by each channel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase

from sqlalchemy import Connection

from lakeguard.ledger.notifications.alerts import open_channels, record_telling, untold
from lakeguard.ledger.notifications.deliveries import known_channels
from lakeguard.notifications.alerts.message import message_of
from lakeguard.notifications.channels.message import Message
from lakeguard.notifications.channels.sender import Messenger
from lakeguard.notifications.channels.store import Waiting
from lakeguard.settings import AlertChannel
from lakeguard.state.database import Database
from lakeguard.state.schema import alert_channels
from lakeguard_sdk.model.notifications import Alert, Telling

AlertMessenger = Messenger[Alert, AlertChannel]


@dataclass(frozen=True)
class AlertBook:
    noun: str = "alert"

    def known(self, connection: Connection, org_id: str) -> frozenset[str]:
        return known_channels(connection, alert_channels, org_id)

    def open(self, connection: Connection, org_id: str, names: Sequence[str], at: datetime) -> None:
        open_channels(connection, org_id, names, at)

    def untold(
        self,
        connection: Connection,
        org_id: str,
        channel: AlertChannel,
        since: datetime,
        most: int | None = None,
    ) -> Waiting[Alert]:
        """All of them: nobody raises so many that it would matter."""
        found = untold(
            connection,
            org_id,
            channel.name,
            since,
            kinds=channel.kinds,
            severities=channel.severities,
        )
        return [(alert, last) for alert, last in found if _is_for(channel, alert)]

    def record(self, connection: Connection, org_id: str, news: Alert, telling: Telling) -> None:
        record_telling(connection, org_id, news.alert_id, telling)

    def message(self, news: Alert, channel: str) -> Message:
        return message_of(news, channel)


def alert_messenger(
    database: Database,
    org_id: str,
    clock: Callable[[], datetime],
    channels: tuple[AlertChannel, ...],
) -> AlertMessenger:
    return Messenger(database, org_id, clock, AlertBook(), channels)


# Which alerts are for a channel. Pure.


def _is_for(channel: AlertChannel, alert: Alert) -> bool:
    """Whether every filter of the channel lets the alert through."""
    return (
        _among(alert.kind, channel.kinds)
        and _among(alert.severity, channel.severities)
        and _among(alert.layer, channel.layers)
        and _like(alert.domain, channel.domains)
        and _like(alert.dataset, channel.datasets)
    )


def _among(word: str, words: tuple[str, ...]) -> bool:
    return not words or word in words


def _like(text: str, patterns: tuple[str, ...]) -> bool:
    return not patterns or any(fnmatchcase(text, pattern) for pattern in patterns)

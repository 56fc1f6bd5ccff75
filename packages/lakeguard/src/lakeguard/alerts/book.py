"""The book of alerts: what was raised, and what became of it by each channel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from lakeguard.alerts.choosing import is_for
from lakeguard.alerts.message import message_of
from lakeguard.ledger.alerts import open_channels, record_telling, untold
from lakeguard.ledger.tellings import known_channels
from lakeguard.settings import AlertChannel
from lakeguard.state.database import Database
from lakeguard.state.tables import alert_channels
from lakeguard.telling.book import Waiting
from lakeguard.telling.message import Message
from lakeguard.telling.messenger import Messenger
from lakeguard_sdk.alerting import Alert
from lakeguard_sdk.telling import Telling

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
        return [(alert, last) for alert, last in found if is_for(channel, alert)]

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

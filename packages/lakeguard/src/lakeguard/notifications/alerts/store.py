"""The alert store: raised alerts and their deliveries per channel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase

from lakeguard.ledger.notifications.alerts import open_channels, record_telling, untold
from lakeguard.ledger.notifications.deliveries import known_channels
from lakeguard.notifications.alerts.message import message_of
from lakeguard.notifications.channels.message import Message
from lakeguard.notifications.channels.sender import Messenger
from lakeguard.notifications.channels.store import Waiting
from lakeguard.settings import AlertChannel
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import alert_channels
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.model.notifications import Alert, ChannelDelivery

AlertMessenger = Messenger[Alert, AlertChannel]


@dataclass(frozen=True)
class AlertBook:
    noun: str = "alert"

    def known(self, tx: Transaction) -> frozenset[str]:
        return known_channels(tx, alert_channels)

    def open(self, tx: Transaction, names: Sequence[str], at: datetime) -> None:
        open_channels(tx, names, at)

    def untold(
        self, tx: Transaction, channel: AlertChannel, since: datetime, most: int | None = None
    ) -> Waiting[Alert]:
        """Reads all of them: alerts are few."""
        found = untold(tx, channel.name, since, kinds=channel.kinds, severities=channel.severities)
        return [(alert, last) for alert, last in found if _is_for(channel, alert)]

    def record(self, tx: Transaction, news: Alert, telling: ChannelDelivery) -> None:
        record_telling(tx, news.alert_id, telling)

    def message(self, news: Alert, channel: str) -> Message:
        return message_of(news, channel)


def alert_messenger(state: OrganisationState, channels: tuple[AlertChannel, ...]) -> AlertMessenger:
    return Messenger(state, AlertBook(), channels)


# Channel filters. Pure.


def _is_for(channel: AlertChannel, alert: Alert) -> bool:
    """Whether the alert passes every filter of the channel."""
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

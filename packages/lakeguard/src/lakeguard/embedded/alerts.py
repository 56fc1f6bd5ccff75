"""The alerts port of the embedded control plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from lakeguard.alerts.messenger import Messenger
from lakeguard.alerts.sweeping import sweep
from lakeguard.alerts.trying import try_channel
from lakeguard.insight.promises import broken_promises
from lakeguard.ledger.alerts import alert_rows
from lakeguard.promotion.heart import Heart
from lakeguard_sdk.alerting import Alert, AlertKind, AlertRow, ChannelTurn


@dataclass(frozen=True)
class EmbeddedAlerts:
    heart: Heart
    messenger: Messenger

    def rows(
        self, *, since: datetime | None = None, kind: AlertKind | None = None, limit: int = 50
    ) -> Sequence[AlertRow]:
        heart = self.heart
        with heart.database.read() as connection:
            return alert_rows(connection, heart.org_id, since=since, kind=kind, limit=limit)

    def sweep(self) -> Sequence[Alert]:
        heart = self.heart
        return sweep(heart.database, heart.org_id, heart.clock(), broken_promises)

    def send(self, *, again: bool = False) -> Sequence[ChannelTurn]:
        return self.messenger.send(again=again)

    def test(self, channel: str) -> str:
        heart, channels = self.heart, self.messenger.channels
        return try_channel(channels, channel, heart.org_id, heart.actor, heart.clock())

"""The alerts port of the embedded control plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from lakeguard.insight.reader.policy_alerts import broken_promises
from lakeguard.ledger.notifications.alerts import alert_rows
from lakeguard.notifications.alerts.message import message_of
from lakeguard.notifications.alerts.sla_sweep import sweep
from lakeguard.notifications.alerts.store import AlertMessenger
from lakeguard.notifications.alerts.test_message import trial
from lakeguard.notifications.channels.test_message import named_channel, try_channel
from lakeguard.promotion.context import Heart
from lakeguard_sdk.errors import AlertNotSent
from lakeguard_sdk.model.notifications import Alert, AlertKind, AlertRow, ChannelTurn


@dataclass(frozen=True)
class EmbeddedAlerts:
    heart: Heart
    messenger: AlertMessenger

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
        heart, chosen = self.heart, named_channel(self.messenger.channels, channel)
        alert = trial(channel, heart.org_id, heart.actor, heart.clock())
        return try_channel(chosen, message_of(alert, channel), AlertNotSent)

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
from lakeguard.promotion.context import PlaneContext
from lakeguard_sdk.errors import AlertNotSent
from lakeguard_sdk.model.notifications import Alert, AlertKind, AlertRow, ChannelResult


@dataclass(frozen=True)
class EmbeddedAlerts:
    context: PlaneContext
    messenger: AlertMessenger

    def rows(
        self, *, since: datetime | None = None, kind: AlertKind | None = None, limit: int = 50
    ) -> Sequence[AlertRow]:
        context = self.context
        with context.read() as tx:
            return alert_rows(tx, since=since, kind=kind, limit=limit)

    def sweep(self) -> Sequence[Alert]:
        context = self.context
        return sweep(context, context.clock(), broken_promises)

    def send(self, *, again: bool = False) -> Sequence[ChannelResult]:
        return self.messenger.send(again=again)

    def test(self, channel: str) -> str:
        context, chosen = self.context, named_channel(self.messenger.channels, channel)
        alert = trial(channel, context.org_id, context.actor, context.clock())
        return try_channel(chosen, message_of(alert, channel), AlertNotSent)

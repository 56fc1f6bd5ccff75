"""The notifications port of the embedded control plane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from lakeguard.insight.reader.policy_alerts import broken_promises
from lakeguard.ledger.notifications.store import list_notifications
from lakeguard.notifications.channel_checks import named_channel, send_test
from lakeguard.notifications.filters import with_waiting
from lakeguard.notifications.messages import test_message
from lakeguard.notifications.sender import NotificationSender
from lakeguard.notifications.sla_sweep import sweep
from lakeguard.promotion.context import PlaneContext
from lakeguard_sdk.model.notifications import (
    Alert,
    AlertKind,
    ChannelResult,
    EventKind,
    NotificationRow,
    Topic,
)


@dataclass(frozen=True)
class EmbeddedNotifications:
    context: PlaneContext
    senders: Mapping[Topic, NotificationSender]

    def rows(
        self,
        topic: Topic | None = None,
        *,
        since: datetime | None = None,
        kind: AlertKind | EventKind | None = None,
        limit: int = 50,
    ) -> Sequence[NotificationRow]:
        topics = Topic if topic is None else (topic,)
        with self.context.read() as tx:
            found = [
                row
                for each in topics
                for row in list_notifications(tx, each, since=since, kind=kind, limit=limit)
            ]
            found = with_waiting(tx, self.senders[Topic.EVENT].channels, found)
        found.sort(key=lambda row: row.notification.raised_at, reverse=True)
        return found[:limit]

    def sweep(self) -> Sequence[Alert]:
        context = self.context
        return sweep(context, context.clock(), broken_promises)

    def send(self, topic: Topic, *, again: bool = False) -> Sequence[ChannelResult]:
        return self.senders[topic].send(again=again)

    def send_due(self, topic: Topic) -> int:
        return self.senders[topic].send_due()

    def test(self, topic: Topic, channel: str) -> str:
        context, chosen = self.context, named_channel(self.senders[topic].channels, channel)
        message = test_message(topic, channel, context.org_id, context.actor, context.clock())
        return send_test(chosen, message)

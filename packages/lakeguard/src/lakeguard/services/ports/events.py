"""The events port of the embedded control plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from lakeguard.ledger.notifications.events import event_rows
from lakeguard.notifications.channels.test_message import named_channel, try_channel
from lakeguard.notifications.events.message import message_of, trial
from lakeguard.notifications.events.store import EventMessenger, tell_due, with_waiting
from lakeguard.promotion.context import PlaneContext
from lakeguard_sdk.errors import EventNotSent
from lakeguard_sdk.model.notifications import ChannelResult, EventKind, EventRow


@dataclass(frozen=True)
class EmbeddedEvents:
    context: PlaneContext
    messenger: EventMessenger

    def rows(
        self, *, since: datetime | None = None, kind: EventKind | None = None, limit: int = 50
    ) -> Sequence[EventRow]:
        context = self.context
        with context.read() as tx:
            rows = event_rows(tx, since=since, kind=kind, limit=limit)
            channels = self.messenger.channels
            return with_waiting(tx, channels, rows)

    def tell(self) -> int:
        return tell_due(self.messenger)

    def send(self, *, again: bool = False) -> Sequence[ChannelResult]:
        return self.messenger.send(again=again)

    def test(self, channel: str) -> str:
        context, chosen = self.context, named_channel(self.messenger.channels, channel)
        event = trial(channel, context.org_id, context.actor, context.clock())
        return try_channel(chosen, message_of(event), EventNotSent)

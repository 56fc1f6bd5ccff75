"""The event store: events and their deliveries per channel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from functools import partial

from lakeguard.ledger.notifications.deliveries import begun, known_channels
from lakeguard.ledger.notifications.events import (
    open_event_channels,
    record_event_telling,
    untold_events,
)
from lakeguard.notifications.channels.backoff import KEPT
from lakeguard.notifications.channels.message import Message
from lakeguard.notifications.channels.sender import Messenger
from lakeguard.notifications.channels.store import Waiting
from lakeguard.notifications.events.message import message_of
from lakeguard.settings import EventChannel
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import event_channels
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.model.notifications import ChannelDelivery, Event, EventRow

EventMessenger = Messenger[Event, EventChannel]
TELLING_SECONDS = 10.0
"""Time limit in seconds for receivers; the rest is sent next time."""


@dataclass(frozen=True)
class EventBook:
    noun: str = "event"

    def known(self, tx: Transaction) -> frozenset[str]:
        return known_channels(tx, event_channels)

    def open(self, tx: Transaction, names: Sequence[str], at: datetime) -> None:
        open_event_channels(tx, names, at)

    def untold(
        self, tx: Transaction, channel: EventChannel, since: datetime, most: int | None = None
    ) -> Waiting[Event]:
        return untold_events(
            tx,
            channel.name,
            since,
            kinds=channel.kinds,
            is_for=partial(_is_for, channel),
            most=most,
        )

    def record(self, tx: Transaction, news: Event, telling: ChannelDelivery) -> None:
        record_event_telling(tx, news.event_id, telling)

    def message(self, news: Event, channel: str) -> Message:
        return message_of(news)


def event_messenger(state: OrganisationState, channels: tuple[EventChannel, ...]) -> EventMessenger:
    return Messenger(state, EventBook(), channels)


def tell_due(messenger: EventMessenger) -> int:
    """Send due events within a time limit; return how many were sent."""
    if not messenger.channels or messenger.is_idle():
        return 0
    return sum(turn.sent for turn in messenger.send(seconds=TELLING_SECONDS, asked=False))


def with_waiting(
    tx: Transaction, channels: Sequence[EventChannel], rows: Sequence[EventRow]
) -> list[EventRow]:
    """Event rows with the channels that still have to send them."""
    now = tx.now()
    begins = {
        channel.name: begun(tx, event_channels, channel.name, now - KEPT) for channel in channels
    }

    def waits(channel: EventChannel, row: EventRow) -> bool:
        first, event = begins[channel.name], row.event
        if first is None or event.happened_at < first:
            return False
        tried = any(telling.channel == channel.name for telling in row.tellings)
        of_kind = not channel.kinds or event.kind in channel.kinds
        return not tried and of_kind and _is_for(channel, event)

    return [
        row.model_copy(
            update={"waiting": tuple(channel.name for channel in channels if waits(channel, row))}
        )
        for row in rows
    ]


def _is_for(channel: EventChannel, event: Event) -> bool:
    patterns = channel.subjects
    return not patterns or any(fnmatchcase(event.subject, pattern) for pattern in patterns)

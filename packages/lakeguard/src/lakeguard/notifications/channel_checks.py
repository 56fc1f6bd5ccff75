"""Health of channels, and test messages through them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from sqlalchemy import select

from lakeguard.notifications.filters import Channel
from lakeguard.notifications.messages import Message
from lakeguard.notifications.sender import NotificationSender, given_up
from lakeguard.notifications.transports import DeliveryFailed, transport_of
from lakeguard.settings import AlertChannel
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import dataset_registry
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.errors import AlertNotSent, EventNotSent, SettingsError, UnknownChannel


@dataclass(frozen=True)
class ChannelHealth:
    """Health from the last attempts; nothing is sent."""

    channel: str
    waiting: int
    dead: int
    problem: str = ""


def examine_channel(sender: NotificationSender, channel: Channel) -> ChannelHealth:
    waiting = sender.waiting(channel)
    last = [delivery for _, delivery in waiting if delivery is not None]
    dead = sum(given_up(delivery) for delivery in last)
    problem = next((delivery.error for delivery in reversed(last) if delivery.error), "")
    try:
        transport_of(channel)
    except SettingsError as error:
        problem = str(error)
    if not problem and isinstance(channel, AlertChannel):
        problem = _unmatched(sender.state, channel)
    return ChannelHealth(channel.name, len(waiting) - dead, dead, problem or "")


def _unmatched(state: OrganisationState, channel: AlertChannel) -> str:
    """Patterns of the channel that match nothing; none if nothing is registered."""
    view = dataset_registry.c
    query = select(view.dataset_name, view.domain).where(view.org_id == state.org_id)
    with state.read() as tx:
        known = tx.execute(query).all()
    if not known:
        return ""
    filters = (
        ("dataset", channel.datasets, {str(row.dataset_name) for row in known}),
        ("domain", channel.domains, {str(row.domain) for row in known}),
    )
    problems = [
        f"no {noun} is like {pattern!r}"
        for noun, patterns, names in filters
        for pattern in patterns
        if not any(fnmatchcase(name, pattern) for name in names)
    ]
    return "; ".join(problems)


# Test messages.


def named_channel(channels: Sequence[Channel], name: str) -> Channel:
    known = {channel.name: channel for channel in channels}
    if name not in known:
        there = f"there is {', '.join(known)}" if known else "lakeguard.toml names none"
        raise UnknownChannel(channel=name[:100], hint=did_you_mean(name, known), known=there)
    return known[name]


def send_test(channel: Channel, message: Message) -> str:
    """Send a message past the channel's filters; return its delivery id."""
    try:
        transport_of(channel).send(message, channel.timeout_seconds)
    except DeliveryFailed as error:
        refusal = AlertNotSent if isinstance(channel, AlertChannel) else EventNotSent
        raise refusal(channel=channel.name, reason=str(error)) from None
    return message.delivery

"""Sends a test message, which is not stored."""

from __future__ import annotations

from collections.abc import Sequence

from lakeguard.notifications.channels.message import Message
from lakeguard.notifications.channels.store import Channel
from lakeguard.notifications.channels.transports import NotCarried, carrier_of
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.errors import EngineError, UnknownChannel


def named_channel(channels: Sequence[Channel], name: str) -> Channel:
    known = {channel.name: channel for channel in channels}
    if name not in known:
        there = f"there is {', '.join(known)}" if known else "lakeguard.toml names none"
        raise UnknownChannel(channel=name[:100], hint=did_you_mean(name, known), known=there)
    return known[name]


def try_channel(channel: Channel, message: Message, refusal: type[EngineError]) -> str:
    """Send a test message past the channel's filters; return its delivery id."""
    try:
        carrier_of(channel).carry(message, channel.timeout_seconds)
    except NotCarried as error:
        raise refusal(channel=channel.name, reason=str(error)) from None
    return message.delivery

"""Health of a channel."""

from __future__ import annotations

from dataclasses import dataclass

from lakeguard.notifications.channels.backoff import given_up
from lakeguard.notifications.channels.sender import Messenger
from lakeguard.notifications.channels.store import Channel, Told
from lakeguard.notifications.channels.transports import carrier_of
from lakeguard_sdk.errors import SettingsError


@dataclass(frozen=True)
class ChannelHealth:
    """Health from the last attempts; nothing is sent."""

    channel: str
    waiting: int
    dead: int
    problem: str = ""


def health_of(messenger: Messenger[Told, Channel], channel: Channel) -> ChannelHealth:
    waiting = messenger.waiting(channel)
    last = [telling for _, telling in waiting if telling is not None]
    dead = sum(given_up(telling) for telling in last)
    problem = next((telling.error for telling in reversed(last) if telling.error), "")
    try:
        carrier_of(channel)
    except SettingsError as error:
        problem = str(error)
    return ChannelHealth(channel.name, len(waiting) - dead, dead, problem or "")

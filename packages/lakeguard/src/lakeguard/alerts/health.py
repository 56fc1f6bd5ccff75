"""Whether the channels are well, for somebody who asks before anything is raised."""

from __future__ import annotations

from dataclasses import dataclass

from lakeguard.alerts.carrying import carrier_of
from lakeguard.alerts.messenger import Messenger
from lakeguard.settings import ChannelSettings
from lakeguard_sdk.alerting import TellingOutcome
from lakeguard_sdk.errors import SettingsError


@dataclass(frozen=True)
class ChannelHealth:
    """Nothing is sent to find out: what was tried last says how it is."""

    channel: str
    waiting: int
    dead: int
    problem: str = ""


def examine_channel(messenger: Messenger, channel: ChannelSettings) -> ChannelHealth:
    waiting = messenger.waiting(channel)
    last = [telling for _, telling in waiting if telling is not None]
    dead = sum(telling.outcome is TellingOutcome.DEAD for telling in last)
    problem = next((telling.error for telling in reversed(last) if telling.error), "")
    try:
        carrier_of(channel)
    except SettingsError as error:
        problem = str(error)
    return ChannelHealth(channel.name, len(waiting) - dead, dead, problem)

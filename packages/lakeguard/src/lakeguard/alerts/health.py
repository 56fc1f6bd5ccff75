"""Whether the channels are well, for somebody who asks before anything is raised."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from sqlalchemy import select

from lakeguard.alerts.carrying import carrier_of
from lakeguard.alerts.messenger import Messenger
from lakeguard.settings import ChannelSettings
from lakeguard.state.tables import dataset_registry
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
    problem = problem or _unmatched(messenger, channel)
    try:
        carrier_of(channel)
    except SettingsError as error:
        problem = str(error)
    return ChannelHealth(channel.name, len(waiting) - dead, dead, problem)


def _unmatched(messenger: Messenger, channel: ChannelSettings) -> str:
    """Patterns of the channel that are about nothing; where nothing is registered, all may be."""
    view = dataset_registry.c
    chosen = select(view.dataset_name, view.domain).where(view.org_id == messenger.org_id)
    with messenger.database.read() as connection:
        known = connection.execute(chosen).all()
    if not known:
        return ""
    asked = (
        ("dataset", channel.datasets, {str(row.dataset_name) for row in known}),
        ("domain", channel.domains, {str(row.domain) for row in known}),
    )
    told = [
        f"no {noun} is like {pattern!r}"
        for noun, patterns, names in asked
        for pattern in patterns
        if not any(fnmatchcase(name, pattern) for name in names)
    ]
    return "; ".join(told)

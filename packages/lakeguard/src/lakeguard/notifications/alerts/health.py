"""Health of alert channels."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase

from sqlalchemy import select

from lakeguard.notifications.alerts.store import AlertMessenger
from lakeguard.notifications.channels.health import ChannelHealth, health_of
from lakeguard.settings import AlertChannel
from lakeguard.state.schema import dataset_registry


def examine_channel(messenger: AlertMessenger, channel: AlertChannel) -> ChannelHealth:
    health = health_of(messenger, channel)
    return replace(health, problem=health.problem or _unmatched(messenger, channel))


def _unmatched(messenger: AlertMessenger, channel: AlertChannel) -> str:
    """Patterns of the channel that match nothing; none if nothing is registered."""
    view = dataset_registry.c
    chosen = select(view.dataset_name, view.domain).where(view.org_id == messenger.state.org_id)
    with messenger.state.read() as tx:
        known = tx.execute(chosen).all()
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

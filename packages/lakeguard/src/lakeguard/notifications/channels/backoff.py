"""When a channel retries a failed delivery. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from lakeguard.notifications.channels.store import Told, Waiting
from lakeguard.settings import ChannelSettings
from lakeguard_sdk.backoff import Backoff
from lakeguard_sdk.model.notifications import ChannelDelivery, DeliveryOutcome

KEPT = timedelta(days=7)
"""Notifications older than this are given up."""


def pause_after(channel: ChannelSettings, attempts: int) -> timedelta:
    """Delay after an attempt: threefold each time, up to the channel's maximum."""
    backoff = Backoff(channel.pause_seconds, channel.longest_pause_seconds, factor=3)
    return timedelta(seconds=backoff.after(attempts))


def due(channel: ChannelSettings, waiting: Waiting[Told], now: datetime) -> Waiting[Told]:
    """What a channel tries now, each sequence in order.

    After a failure the channel pauses; notifications raised since then are tried anyway, because
    the next process may be long in coming.
    """
    troubled = max((last.tried_at for _, last in waiting if last is not None), default=None)
    resting = troubled is not None and now < troubled + pause_after(channel, 1)
    held, found = set[str](), list[tuple[Told, ChannelDelivery | None]]()
    for news, last in waiting:
        rests = resting and troubled is not None and news.since <= troubled
        if news.line not in held and not rests and _is_due(channel, last, now):
            found.append((news, last))
        elif not given_up(last):
            held.add(news.line)
    return found


def given_up(last: ChannelDelivery | None) -> bool:
    return last is not None and last.outcome is DeliveryOutcome.DEAD


def _is_due(channel: ChannelSettings, last: ChannelDelivery | None, now: datetime) -> bool:
    """Whether it was never tried, or its delay has passed."""
    if last is None:
        return True
    paused = now < last.tried_at + pause_after(channel, last.attempts)
    return last.outcome is DeliveryOutcome.FAILED and not paused

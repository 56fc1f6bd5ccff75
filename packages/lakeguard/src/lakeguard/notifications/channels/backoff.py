"""When a channel tries again what it failed to tell. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from lakeguard.notifications.channels.store import Told, Waiting
from lakeguard.settings import ChannelSettings
from lakeguard_sdk.backoff import Backoff
from lakeguard_sdk.model.notifications import Telling, TellingOutcome

KEPT = timedelta(days=7)
"""What could not be told for so long is no news any more."""


def pause_after(channel: ChannelSettings, attempts: int) -> timedelta:
    """Three times as long after each attempt, up to the longest that the channel allows."""
    backoff = Backoff(channel.pause_seconds, channel.longest_pause_seconds, factor=3)
    return timedelta(seconds=backoff.after(attempts))


def due(channel: ChannelSettings, waiting: Waiting[Told], now: datetime) -> Waiting[Told]:
    """What a channel is to try now, each line in its order.

    After a failure it is left alone for a moment; only what came up since then is tried all the
    same, for nobody may come again soon to try it.
    """
    troubled = max((last.tried_at for _, last in waiting if last is not None), default=None)
    resting = troubled is not None and now < troubled + pause_after(channel, 1)
    held, found = set[str](), list[tuple[Told, Telling | None]]()
    for news, last in waiting:
        rests = resting and troubled is not None and news.since <= troubled
        if news.line not in held and not rests and _is_due(channel, last, now):
            found.append((news, last))
        elif not given_up(last):
            held.add(news.line)
    return found


def given_up(last: Telling | None) -> bool:
    return last is not None and last.outcome is TellingOutcome.DEAD


def _is_due(channel: ChannelSettings, last: Telling | None, now: datetime) -> bool:
    """Never tried before, or its last failure is long enough ago."""
    if last is None:
        return True
    paused = now < last.tried_at + pause_after(channel, last.attempts)
    return last.outcome is TellingOutcome.FAILED and not paused

"""Which alerts are for a channel, and when one that failed is tried again. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from fnmatch import fnmatchcase

from lakeguard.settings import ChannelSettings
from lakeguard_sdk.alerting import Alert, Telling, TellingOutcome

FIRST_PAUSE = timedelta(seconds=30)
LONGEST_PAUSE = timedelta(hours=6)
KEPT = timedelta(days=7)
"""What could not be told for so long is no news any more."""

Waiting = Sequence[tuple[Alert, Telling | None]]
"""What a channel has not told, each with its last attempt."""


def is_for(channel: ChannelSettings, alert: Alert) -> bool:
    """Whether every filter of the channel lets the alert through."""
    return (
        _among(alert.kind, channel.kinds)
        and _among(alert.severity, channel.severities)
        and _among(alert.layer, channel.layers)
        and _like(alert.domain, channel.domains)
        and _like(alert.dataset, channel.datasets)
    )


def pause_after(attempts: int) -> timedelta:
    """Three times as long after each attempt, up to some hours."""
    times: int = 3 ** min(attempts - 1, 10)
    return min(FIRST_PAUSE * times, LONGEST_PAUSE)


def due(waiting: Waiting, now: datetime) -> Waiting:
    """What a channel is to try now.

    After a failure it is left alone for a moment; only what was raised since then is tried all the
    same, for nobody may come again soon to try it.
    """
    troubled = max((last.tried_at for _, last in waiting if last is not None), default=None)
    resting = troubled is not None and now < troubled + FIRST_PAUSE
    return [
        (alert, last)
        for alert, last in waiting
        if _is_due(last, now) and not (resting and troubled and alert.raised_at <= troubled)
    ]


def _is_due(last: Telling | None, now: datetime) -> bool:
    """Never tried before, or its last failure is long enough ago."""
    if last is None:
        return True
    paused = now < last.tried_at + pause_after(last.attempts)
    return last.outcome is TellingOutcome.FAILED and not paused


def _among(word: str, words: tuple[str, ...]) -> bool:
    return not words or word in words


def _like(text: str, patterns: tuple[str, ...]) -> bool:
    return not patterns or any(fnmatchcase(text, pattern) for pattern in patterns)

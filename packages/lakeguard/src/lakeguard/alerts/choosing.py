"""Which alerts are for a channel, and when one that failed is tried again. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from fnmatch import fnmatchcase

from lakeguard.settings import ChannelSettings
from lakeguard_sdk.alerting import Alert, Telling, TellingOutcome

FIRST_PAUSE = timedelta(seconds=30)
LONGEST_PAUSE = timedelta(hours=6)
KEPT = timedelta(days=7)
"""What could not be told for so long is no news any more."""


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


def is_due(last: Telling | None, now: datetime) -> bool:
    """Whether an alert is to be tried: never before, or its last failure is long enough ago."""
    if last is None:
        return True
    return last.outcome is TellingOutcome.FAILED and now >= last.tried_at + pause_after(
        last.attempts
    )


def rests(tried: Iterable[Telling | None], now: datetime) -> bool:
    """Whether a channel failed a moment ago: it is then left alone, whatever waits for it."""
    return any(
        last is not None
        and last.outcome is not TellingOutcome.SENT
        and now < last.tried_at + FIRST_PAUSE
        for last in tried
    )


def _among(word: str, words: tuple[str, ...]) -> bool:
    return not words or word in words


def _like(text: str, patterns: tuple[str, ...]) -> bool:
    return not patterns or any(fnmatchcase(text, pattern) for pattern in patterns)

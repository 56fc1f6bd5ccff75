"""Times as people write them: so long ago, a day, or a moment with its zone."""

from __future__ import annotations

from datetime import UTC, date, datetime, time

import click

from lakeguard.gate.durations import duration, is_duration

_SAID = "write a length such as 90d, a day such as 2026-01-31, or a time with its zone"


def moment_of(text: str, now: datetime) -> datetime:
    """The moment that is meant; a day begins at midnight UTC."""
    if is_duration(text):
        try:
            return now - duration(text)
        except OverflowError:
            return datetime.min.replace(tzinfo=UTC)
    try:
        if len(text) == len("2026-01-31"):
            return datetime.combine(date.fromisoformat(text), time(), UTC)
        found = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f"{text[:40]!r}: {_SAID}") from None
    if found.tzinfo is None:
        raise click.BadParameter(f"{text[:40]!r}: {_SAID}")
    return found

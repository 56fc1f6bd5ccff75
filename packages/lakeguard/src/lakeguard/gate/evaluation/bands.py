"""Bounds derived from earlier values; pure arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Context, Decimal

from lakeguard.gate.grammar.literals import EXACT, number_text
from lakeguard.gate.typecheck.checks import Past

_SPREAD = Decimal("1.4826")
"""Scale from the median absolute deviation to the standard deviation of normal values."""
_FLOOR = Decimal("0.01")
"""Minimum spread, relative to the median, so that constant history allows small changes."""
_SHOWN = Context(prec=12)
_WORDS = {"weekday": " on this weekday", "hour": " in this hour"}


@dataclass(frozen=True)
class Point:
    """An earlier value and the time of its decision."""

    value: Decimal
    at: datetime


@dataclass(frozen=True)
class Band:
    """Inclusive bounds; ``of`` describes what they were derived from."""

    low: Decimal
    high: Decimal
    of: str


@dataclass(frozen=True)
class NoBand:
    """There is not enough history for a band; ``reason`` says why."""

    reason: str


def band(past: Past, points: Sequence[Point], clock: datetime, *, whole: bool) -> Band | NoBand:
    """The band derived from the points, newest first, without the current value.

    ``whole`` values (counts) may always differ by one.
    """
    if past.band == "last":
        return _around_last(past, points)
    alike = [point for point in points if _same_season(past, point.at, clock)]
    season = _WORDS.get(past.band, "")
    if len(alike) < past.least:
        return NoBand(f"{len(alike)} of {past.least} earlier values{season} needed for a band")
    values = [point.value for point in alike[: past.over]]
    middle = median(values)
    deviation = median([abs(EXACT.subtract(value, middle)) for value in values])
    spread = max(
        EXACT.multiply(_SPREAD, deviation),
        EXACT.multiply(_FLOOR, abs(middle)),
        Decimal(1 if whole else 0),
    )
    width = EXACT.multiply(past.k, spread)
    of = f"median of {len(values)} earlier values{season} and {number_text(past.k)} spreads"
    return _band(middle, width, of)


def _around_last(past: Past, points: Sequence[Point]) -> Band | NoBand:
    if not points:
        return NoBand("no earlier version to compare with")
    last = points[0].value
    width = EXACT.divide(EXACT.multiply(abs(last), past.change), Decimal(100))
    of = f"last value {number_text(_SHOWN.plus(last))} and {number_text(past.change)} % of it"
    return _band(last, width, of)


def _band(middle: Decimal, width: Decimal, of: str) -> Band:
    low, high = EXACT.subtract(middle, width), EXACT.add(middle, width)
    return Band(low, high, of)


def _same_season(past: Past, at: datetime, clock: datetime) -> bool:
    """Whether both times, in UTC, share the weekday or the hour of the day."""
    then, now = at.astimezone(UTC), clock.astimezone(UTC)
    if past.band == "weekday":
        return then.weekday() == now.weekday()
    return past.band != "hour" or then.hour == now.hour


def median(values: Sequence[Decimal]) -> Decimal:
    """Of at least one value."""
    ordered = sorted(values)
    half = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[half]
    return EXACT.divide(EXACT.add(ordered[half - 1], ordered[half]), Decimal(2))

"""A check over the last runs: a small chart, and its two ends in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite

from lakeguard.cli.layout import number, plural
from lakeguard.cli.screen import Screen
from lakeguard_sdk.comparison import CheckPoint, CheckTrend
from lakeguard_sdk.measure import MeasureValue

Height = Callable[[CheckPoint], float | None]


def trend_line(trend: CheckTrend | None, screen: Screen) -> str | None:
    """Nothing where there was no run before, or where no number was ever measured."""
    if trend is None or len(trend.points) < 2:
        return None
    rows = any(point.failed_rows is not None for point in trend.points)
    height = _share if rows else _observed
    measured = [point for point in trend.points if height(point) is not None]
    if not measured:
        return None
    runs, ends = plural(len(trend.points), "run"), _ends(trend.points, measured, rows)
    missing = len(trend.points) - len(measured)
    gaps = f", {missing} without a number ({screen.gap})" if missing else ""
    return f"{_chart(trend.points, height, screen, from_zero=rows)}  {runs}: {ends}{gaps}"


def _chart(points: Sequence[CheckPoint], height: Height, screen: Screen, *, from_zero: bool) -> str:
    """The oldest left; counts of failing rows rise from nothing, other numbers from the least."""
    heights = [height(point) for point in points]
    known = [value for value in heights if value is not None]
    least, most = (0.0 if from_zero else min(known)), max(known)
    return "".join(
        screen.gap if value is None else _mark(value, least, most, screen.marks)
        for value in heights
    )


def _mark(value: float, least: float, most: float, marks: str) -> str:
    """By halves: the whole way from the least to the most may be more than a float holds."""
    span = most / 2 - least / 2
    if span == 0:
        return marks[0]
    return marks[round((value / 2 - least / 2) / span * (len(marks) - 1))]


def _ends(points: Sequence[CheckPoint], measured: Sequence[CheckPoint], rows: bool) -> str:
    first, last = measured[0], measured[-1]
    if first is last:
        return f"{_words(last, rows)} in one of them"
    now = "now" if last is points[-1] else "last"
    return f"{_words(first, rows)} first, {_words(last, rows)} {now}"


def _words(point: CheckPoint, rows: bool) -> str:
    if not rows:
        return number(point.observed)
    if point.scope_rows is None:
        return plural(point.failed_rows or 0, "row")
    return f"{number(point.failed_rows)} of {plural(point.scope_rows, 'row')}"


def _share(point: CheckPoint) -> float | None:
    """Of the rows that were looked at: batches differ in size."""
    if point.failed_rows is None:
        return None
    return point.failed_rows / point.scope_rows if point.scope_rows else float(point.failed_rows)


def _observed(point: CheckPoint) -> float | None:
    return _finite(point.observed)


def _finite(value: MeasureValue) -> float | None:
    """A number, also where it is told as text; what is none, or beyond a float, has no height."""
    try:
        found = float(value) if value is not None else None
    except (ValueError, OverflowError):
        return None
    return found if found is not None and isfinite(found) else None

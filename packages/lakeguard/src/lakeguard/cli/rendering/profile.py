"""Rendering of profiles: one line per column, with a small chart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise

from lakeguard.cli.terminal.layout import (
    Tone,
    columns,
    indented,
    moment,
    number,
    strong,
    table,
    toned,
)
from lakeguard.cli.terminal.output import Screen
from lakeguard.services.plain_text import escaped, plural
from lakeguard_sdk.expressions.measures import MeasureValue
from lakeguard_sdk.model.profile import (
    ColumnChange,
    ColumnProfile,
    Frequent,
    Profile,
    ProfileDiff,
)

_WIDEST = 24
_NAMED = 3
_BARS = 8
_HEADERS = ("COLUMN", "TYPE", "NULL", "DISTINCT", "MIN", "MEDIAN", "MAX", "", "")


def profile_lines(profile: Profile, screen: Screen) -> list[str]:
    columns = plural(len(profile.columns), "column")
    rows = [_row(column, profile.rows, screen) for column in profile.columns]
    return [
        f"{strong(f'{profile.dataset}@v{profile.version}')}   {plural(profile.rows, 'row')},"
        f" {columns}, profile of {moment(profile.taken_at)}",
        "",
        *table(_HEADERS, rows, right=frozenset({2, 3})),
    ]


def _row(column: ColumnProfile, rows: int, screen: Screen) -> list[str]:
    name, data_type = escaped(column.column), column.type
    empty = share_words(column.nulls, rows)
    if column.masked:
        return [name, data_type, empty, "", toned("masked: tagged column", Tone.QUIET)]
    distinct = "" if column.distinct is None else number(column.distinct)
    ends = [short(column.least), short(column.quantiles.get("0.5")), short(column.greatest)]
    return [
        name,
        data_type,
        empty,
        distinct,
        *ends,
        chart(column, screen),
        _most_frequent(column, rows),
    ]


def share_words(part: int, rows: int) -> str:
    """Empty for 0 rows; never rounded to 0 % or 100 %."""
    if not part:
        return ""
    if part == rows:
        return "100 %"
    return f"{min(max(part / rows * 100, 0.1), 99.9):.1f} %"


def chart(column: ColumnProfile, screen: Screen) -> str:
    """A histogram for numbers and times with many values, else counts of the most frequent
    values."""
    places = [_place(value) for value in column.quantiles.values()]
    known = [place for place in places if place is not None]
    many = (column.distinct or 0) > _BARS
    if many and len(known) > 1 and known[0] < known[-1]:
        return _density([float(share) for share in column.quantiles], known, screen)
    return _bars([each.rows for each in column.top[:_BARS]], screen)


def _density(shares: Sequence[float], places: Sequence[float], screen: Screen) -> str:
    """Equal-width histogram between the outermost quantiles."""
    if len(shares) != len(places):
        return ""
    low, high = places[0], places[-1]
    edges = [low + (high - low) * step / _BARS for step in range(_BARS + 1)]
    below = [_share_below(edge, shares, places) for edge in edges]
    return _bars([after - before for before, after in pairwise(below)], screen)


def _share_below(edge: float, shares: Sequence[float], places: Sequence[float]) -> float:
    """Interpolates linearly between two quantiles."""
    found = shares[0]
    for index in range(1, len(places)):
        before, after = places[index - 1], places[index]
        if edge >= after:
            found = shares[index]
        elif edge > before:
            part = (edge - before) / (after - before)
            return shares[index - 1] + part * (shares[index] - shares[index - 1])
    return found


def _bars(heights: Sequence[float], screen: Screen) -> str:
    most = max(heights, default=0)
    if most <= 0:
        return ""
    return "".join(
        screen.marks[round(height / most * (len(screen.marks) - 1))] for height in heights
    )


def _place(value: MeasureValue) -> float | None:
    if isinstance(value, int | float):
        return float(value)
    try:
        return datetime.fromisoformat(value).timestamp() if value else None
    except ValueError:
        return _number(value or "")


def _number(text: str) -> float | None:
    """Parses a number stored as text: a decimal, or too large for JSON."""
    try:
        found = float(text)
    except ValueError:
        return None
    return found if abs(found) < float("inf") else None


def _most_frequent(column: ColumnProfile, rows: int) -> str:
    """The most frequent values, else the most frequent text patterns."""
    nans = f"{share_words(column.nans, rows)} NaN" if column.nans else ""
    listed = [each for each in column.top if each.rows > 1] or column.patterns
    named = ", ".join(_frequent(each, rows) for each in listed[:_NAMED])
    return ", ".join(part for part in (nans, named) if part)


def _frequent(each: Frequent, rows: int) -> str:
    return f"{short(each.value)} {share_words(each.rows, rows)}"


def short(value: MeasureValue) -> str:
    """The value, shortened."""
    text = "" if value is None else number(value).replace(".000000", "")
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


# Comparison of two profiles: columns with large differences first.

_MARK = "!"
_CHANGED = 5


def profile_diff_lines(diff: ProfileDiff, *, every: bool) -> list[str]:
    """Columns without differences are left out unless ``every``."""
    before, after = diff.before, diff.after
    ordered = sorted(diff.columns, key=lambda change: not change.much)
    shown = [(change, list(_facts(change, diff))) for change in ordered]
    listed = [part for part in shown if part[1] or part[0].much or every]
    lines = [
        f"{_name(before)} → {_name(after)}   {_rows(diff)}",
        *(line for change, facts in listed for line in _column(change, facts)),
    ]
    same = len(shown) - len(listed)
    return [*lines, "", f"{plural(same, 'column')} the same"] if same else lines


def _name(profile: Profile) -> str:
    return strong(f"{profile.dataset}@v{profile.version}")


def _rows(diff: ProfileDiff) -> str:
    row_counts = f"{number(diff.before.rows)} → {plural(diff.after.rows, 'row')}"
    return toned(f"{_MARK} {row_counts}", Tone.WARN) if diff.much else row_counts


def _column(change: ColumnChange, facts: list[tuple[str, str]]) -> list[str]:
    name = escaped(change.column)
    much = "; ".join(escaped(each) for each in change.much)
    head = toned(f"{_MARK} {name}: {much}", Tone.WARN) if much else f"  {name}"
    return ["", head, *indented(columns([list(fact) for fact in facts]), 4)]


def _facts(change: ColumnChange, diff: ProfileDiff) -> Iterator[tuple[str, str]]:
    """Differing figures, before and after."""
    pair = [_of(change.column, profile) for profile in (diff.before, diff.after)]
    old, new = pair
    if old is None or new is None:
        return
    empty = [
        share_words(c.nulls, p.rows) or "0 %" for c, p in ((old, diff.before), (new, diff.after))
    ]
    yield from _differing("NULL", *empty)
    yield from _differing("distinct", _count(old), _count(new))
    for label, field in (("min", "least"), ("max", "greatest"), ("mean", "mean")):
        yield from _differing(label, short(getattr(old, field)), short(getattr(new, field)))
    median = (short(column.quantiles.get("0.5")) for column in (old, new))
    yield from _differing("median", *median)
    if change.psi:
        yield "PSI", number(change.psi)
    for label, values in (("new", change.new_values), ("gone", change.gone_values)):
        if values:
            yield label, ", ".join(short(value) for value in values[:_CHANGED])


def _of(name: str, profile: Profile) -> ColumnProfile | None:
    return next((column for column in profile.columns if column.column == name), None)


def _count(column: ColumnProfile) -> str:
    return "" if column.distinct is None else number(column.distinct)


def _differing(label: str, before: str, after: str) -> Iterator[tuple[str, str]]:
    if before != after:
        yield label, f"{before or 'none'} → {after or 'none'}"

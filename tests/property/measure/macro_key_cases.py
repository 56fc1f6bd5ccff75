"""What the catalogue says of keys, sequences, spreads and earlier versions, in plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from statistics import median, stdev
from typing import Any

from tests.property.measure.macro_number_cases import NUMBERS
from tests.property.measure.macro_oracle import (
    Data,
    Expected,
    Oracle,
    Rows,
    alike,
    counted,
    each,
    every_row,
    keys,
    name,
    no_repeats,
    present,
    repeated,
    several,
    valued,
)
from tests.property.measure.macro_rows import DAY, HOUR, ONE_OF_EACH, TYPES

KEYED = tuple(column for column in ONE_OF_EACH if "<" not in TYPES[column])
LISTED = tuple(column for column in KEYED if TYPES[column] != "binary")


def different(rows: Rows, *columns: str) -> int:
    return len(set(keys(rows, columns)))


def keys_between(*columns: str, low: int | None = None, high: int | None = None) -> Oracle:
    return valued(lambda data: different(data.table, *columns), low, high)


def groups(rows: Rows, by: str | None) -> list[Rows]:
    if by is None:
        return [rows]
    return [[row for row in rows if row[by] == key] for key in {row[by] for row in rows}]


def steps(column: str, most: int, by: str | None = None) -> Oracle:
    """Rows that come more than a step after the next lower one."""

    def expected(data: Data) -> list[Expected]:
        ordered = [sorted(present(rows, column)) for rows in groups(data.table, by)]
        far = [later - earlier > most for found in ordered for earlier, later in pairwise(found)]
        return [counted(sum(far), len(data.table))]

    return expected


def intervals(start: str, end: str, by: str, wrong: Callable[[Any, list[Any]], bool]) -> Oracle:
    """Rows that start at a wrong time, given the ends of all that start earlier."""

    def expected(data: Data) -> list[Expected]:
        failed = 0
        for rows in groups(data.table, by):
            spans = sorted(
                (row[start], math.inf if row[end] is None else row[end])
                for row in rows
                if row[start] is not None
            )
            for at, (begins, _) in enumerate(spans):
                failed += at > 0 and wrong(begins, [ends for _, ends in spans[:at]])
        return [counted(failed, len(data.table))]

    return expected


def overlaps(begins: Any, ends: list[Any]) -> bool:
    return any(begins < end for end in ends)


def leaves_a_gap(begins: Any, ends: list[Any]) -> bool:
    return all(begins > end for end in ends)


def spread(
    column: str, of: Callable[[list[float]], float], least: int, *, finite: bool = False
) -> Callable[[Data], Any]:
    """Of the new rows, or the ``finite`` ones; NaN where a value is not, None with too few."""

    def found(data: Data) -> float | None:
        values = list(map(float, present(data.batch, column)))
        if finite:
            values = list(filter(math.isfinite, values))
        if not all(map(math.isfinite, values)):
            return math.nan
        return of(values) if len(values) >= least else None

    return found


def new_values(column: str, most: int) -> Oracle:
    def expected(data: Data) -> list[Expected]:
        seen = set(map(alike, present(data.existing, column)))
        new = len(set(map(alike, present(data.batch, column))) - seen)
        return [Expected(new <= most, value=new)]

    return expected


def about_last(share: Fraction) -> Oracle:
    def expected(data: Data) -> list[Expected]:
        rows, last = len(data.batch), data.counts[0]
        return [Expected(abs(rows - last) <= share * last, value=rows)]

    return expected


def ordinary(k: int) -> Oracle:
    """Within so many spreads of the middle of earlier versions; a row more or less always is."""

    def expected(data: Data) -> list[Expected]:
        counts = list(map(Fraction, data.counts))
        middle = median(counts)
        off = median([abs(count - middle) for count in counts])
        width = k * max(Fraction("1.4826") * off, middle / 100, Fraction(1))
        return [Expected(abs(len(data.batch) - middle) <= width, value=len(data.batch))]

    return expected


def _missing(column: str) -> Oracle:
    return every_row(lambda row: row[column] is not None)


def _current(data: Data) -> list[Expected]:
    rows = [row for row in data.table if row["yes"] is True]
    return [counted(repeated(rows, "k"), len(rows))]


_TENTH = Fraction(1, 10)
KEY_MACROS: dict[str, Oracle] = {
    **{f"constant({name(c)})": keys_between(c, high=1) for c in (*KEYED, "same")},
    **{f"not_constant({name(c)})": keys_between(c, low=2) for c in (*KEYED, "same")},
    "cardinality(k, yes, min=2, max=6)": keys_between("k", "yes", low=2, high=6),
    "distinct_count(n, max=8)": keys_between("n", high=8),
    **{f"duplicate_ratio({name(c)}, max=10%)": no_repeats(c, most=_TENTH) for c in KEYED},
    "duplicate_ratio(n, m, max=10%)": no_repeats("n", "m", most=_TENTH),
    "primary_key(k, n)": several(_missing("k"), _missing("n"), no_repeats("k", "n")),
    "unique_within(n, within=k)": no_repeats("n", "k"),
    "superseded_by_latest(k, current=yes = true)": _current,
    **{
        f"{macro}(k, start={start}, end={end})": intervals(start, end, "k", wrong)
        for start, end in (("n", "m"), ("day", "till"), ("at", "done"), ("local", "ended"))
        for macro, wrong in (("scd2_no_overlap", overlaps), ("scd2_no_gap", leaves_a_gap))
    },
    **{
        f"sequential({name(c)})": several(steps(c, 1), no_repeats(c))
        for c in ("n", "b", "h", "order id")
    },
    "no_gaps(n, period=2)": steps("n", 2),
    "no_gaps(day, period=1d)": steps("day", 1),
    "no_gaps(at, period=12h) by k": steps("at", 12 * HOUR, "k"),
    "no_gaps(local, period=1d)": steps("local", DAY),
    "value_share(k, value='a', max=20%)": each("k", lambda text: text != "a", most=Fraction(1, 5)),
    "value_share(i, value=1, max=10%)": each("i", lambda number: number != 1, most=_TENTH),
    "value_share(d, value=0, max=10%)": each("d", lambda number: number != 0, most=_TENTH),
    "value_share(yes, value=true, max=50%)": each(
        "yes", lambda flag: flag is False, most=Fraction(1, 2)
    ),
}
VALUE_MACROS: dict[str, Oracle] = {
    **{
        f"median({name(c)}, min=-1, max=5)": valued(spread(c, median, 1), -1, 5)
        for c in (*NUMBERS, "e")
    },
    **{
        f"median({c}, min=-1, max=5) where is_finite({c})": valued(
            spread(c, median, 1, finite=True), -1, 5
        )
        for c in ("f", "d")
    },
    "stddev(f, max=1e7) where is_finite(f)": valued(spread("f", stdev, 2, finite=True), None, 1e7),
    **{
        f"stddev({name(c)}, max=1000)": valued(spread(c, stdev, 2), None, 1000)
        for c in (*(c for c in NUMBERS if c != "d"), "e")
    },
    "change_vs_last(max=20%)": about_last(Fraction(1, 5)),
    "anomaly(k=2, least=4)": ordinary(2),
    **{f"new_values({name(c)}, most=1)": new_values(c, 1) for c in (*LISTED, "same")},
}

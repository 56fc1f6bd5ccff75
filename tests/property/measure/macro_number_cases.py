"""What the catalogue says of numbers, times and missing values, in plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tests.property.measure.macro_oracle import (
    Good,
    Oracle,
    each,
    every_row,
    name,
    pair,
    rows_where,
    several,
)
from tests.property.measure.macro_rows import DAY, ONE_OF_EACH, TYPES, Row

EXACT = ("b", "h", "i", "order id", "small", "rate", "wide")
FLOATING = ("f", "d")
NUMBERS = (*EXACT, *FLOATING)
TIMES = ("day", "at", "local")
_WORKDAYS = range(5)
_THURSDAY = 3


def _multiple(of: Fraction) -> Good:
    return lambda value: math.isfinite(value) and Fraction(value) % of == 0


def _digits_behind(most: int) -> Good:
    return lambda value: (Fraction(value) * 10**most).denominator == 1


def _within(most: float) -> Good:
    return lambda value: -most <= value <= most


def _near(tolerance: Fraction) -> Callable[[Any, Any], bool]:
    """Exactly for exact numbers, in doubles for others; infinite ones are near nothing."""

    def near(one: Any, other: Any) -> bool:
        if isinstance(one, float) or isinstance(other, float):
            return abs(float(one) - float(other)) <= tolerance
        return abs(Fraction(one) - Fraction(other)) <= tolerance

    return near


def _adds_up(*columns: str, to: str) -> Oracle:
    def good(row: Row) -> bool:
        values = [row[column] for column in columns]
        if None in (*values, row[to]):
            return True
        added = sum(values[1:], values[0])
        return bool(added == row[to] or (added != added and row[to] != row[to]))

    return every_row(good)


def day_of(column: str, value: int) -> int:
    """Days since 1970, in UTC."""
    return value if TYPES[column] == "date" else value // DAY


def _days_apart(one: str, other: str, most: int) -> Callable[[Any, Any], bool]:
    return lambda start, end: day_of(other, end) - day_of(one, start) <= most


def _workday(column: str) -> Good:
    return lambda value: (day_of(column, value) + _THURSDAY) % 7 in _WORKDAYS


def _late(data_row: Row) -> bool:
    at, done = data_row["at"], data_row["done"]
    return at is not None and done is not None and done // DAY - at // DAY > 1


def _has(*columns: str) -> Callable[[Row], int]:
    return lambda row: sum(row[column] is not None for column in columns)


def _true(row: Row) -> bool:
    return row["yes"] is True


def _one_of(column: str) -> tuple[Oracle, Oracle]:
    some, exactly = _has(column, "s"), _has(column, "s", "k")
    return every_row(lambda row: some(row) >= 1), every_row(lambda row: exactly(row) == 1)


NUMBER_MACROS: dict[str, Oracle] = {
    **{f"positive({name(c)})": each(c, lambda value: value > 0) for c in NUMBERS},
    **{f"non_negative({name(c)})": each(c, lambda value: value >= 0) for c in NUMBERS},
    **{f"multiple_of({name(c)}, of=0.5)": each(c, _multiple(Fraction(1, 2))) for c in NUMBERS},
    **{f"multiple_of({name(c)}, of=3)": each(c, _multiple(Fraction(3))) for c in NUMBERS},
    **{f"multiple_of({name(c)}, of=0.1)": each(c, _multiple(Fraction(1, 10))) for c in EXACT},
    **{f"multiple_of({name(c)}, of=0.1)": each(c, _multiple(Fraction(0.1))) for c in FLOATING},
    "decimal_places(small, most=0)": each("small", _digits_behind(0)),
    "decimal_places(small, most=1)": each("small", _digits_behind(1)),
    "decimal_places(rate, most=2)": each("rate", _digits_behind(2)),
    **{f"finite({c})": each(c, math.isfinite) for c in (*FLOATING, "e")},
    **{f"latitude({name(c)})": each(c, _within(90)) for c in NUMBERS},
    **{f"longitude({name(c)})": each(c, _within(180)) for c in NUMBERS},
    "lat_lon(lat=d, lon=small)": several(each("d", _within(90)), each("small", _within(180))),
    "near(i, other=j, tolerance=2)": pair("i", "j", _near(Fraction(2))),
    "near(`order id`, other=b, tolerance=3)": pair("order id", "b", _near(Fraction(3))),
    "near(small, other=cents, tolerance=0.5)": pair("small", "cents", _near(Fraction(1, 2))),
    "near(rate, other=i, tolerance=1.25)": pair("rate", "i", _near(Fraction(5, 4))),
    "near(d, other=e, tolerance=0.5)": pair("d", "e", _near(Fraction(1, 2))),
    "near(f, other=d, tolerance=0.5)": pair("f", "d", _near(Fraction(1, 2))),
    "near(h, other=e, tolerance=0.5)": pair("h", "e", _near(Fraction(1, 2))),
    "sum_equals(i, j, total=total)": _adds_up("i", "j", to="total"),
    "sum_equals(small, cents, total=bill)": _adds_up("small", "cents", to="bill"),
    "sum_equals(d, e, total=both)": _adds_up("d", "e", to="both"),
    "sum_equals(b, h, i, total=`order id`)": _adds_up("b", "h", "i", to="order id"),
}
TIME_MACROS: dict[str, Oracle] = {
    "event_lag(day, other=till, days=1)": pair("day", "till", _days_apart("day", "till", 1)),
    "event_lag(at, other=done, days=0)": pair("at", "done", _days_apart("at", "done", 0)),
    "event_lag(local, other=ended, days=1)": pair(
        "local", "ended", _days_apart("local", "ended", 1)
    ),
    "event_lag(day, other=done, days=1)": pair("day", "done", _days_apart("day", "done", 1)),
    "event_lag(at, other=ended, days=-1)": pair("at", "ended", _days_apart("at", "ended", -1)),
    **{
        f"event_order({one}, other={other})": pair(one, other, lambda start, end: start <= end)
        for one, other in (("day", "till"), ("at", "done"), ("local", "ended"), ("i", "j"))
    },
    "late_ratio(at, other=done, days=1, max=20%)": every_row(
        lambda row: not _late(row), most=Fraction(1, 5)
    ),
    **{f"weekday({c}, days=(0, 1, 2, 3, 4))": each(c, _workday(c)) for c in TIMES},
}
MISSING_MACROS: dict[str, Oracle] = {
    **{
        f"required_if({name(c)}, when=yes = true)": rows_where(
            _true, lambda row, c=c: row[c] is not None
        )
        for c in ONE_OF_EACH
    },
    **{f"at_least_one_not_null({name(c)}, s)": _one_of(c)[0] for c in ONE_OF_EACH if c != "s"},
    **{f"exactly_one_not_null({name(c)}, s, k)": _one_of(c)[1] for c in ONE_OF_EACH if c != "s"},
    "conditional(if=yes = true, then=i > 0)": rows_where(
        _true, lambda row: row["i"] is None or row["i"] > 0
    ),
    "conditional(if=d > 1, then=s is not null)": rows_where(
        lambda row: row["d"] is not None and not row["d"] <= 1, lambda row: row["s"] is not None
    ),
}

"""What a rule should come to, and the few ways of saying it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.property.measure.macro_rows import CLOCK, Row

UNASKED = object()
Good = Callable[[Any], bool]
Rows = list[Row]


@dataclass(frozen=True)
class Data:
    """New rows beside those that a table has, and rows of another dataset."""

    batch: Rows
    existing: Rows
    others: Rows
    counts: tuple[int, ...] = ()
    """Rows of earlier versions, the last one first."""
    clock: int = CLOCK

    @property
    def table(self) -> Rows:
        return [*self.batch, *self.existing]


@dataclass(frozen=True)
class Expected:
    """Whether the rule holds; the failing rows or the value where it is about one."""

    holds: bool
    failed: int | None = None
    value: Any = UNASKED


Oracle = Callable[[Data], list[Expected]]


def every_row(good: Callable[[Row], bool], *, most: Fraction | None = None) -> Oracle:
    """Of the new rows; ``most`` is the share that may fail."""

    def expected(data: Data) -> list[Expected]:
        return [counted(sum(not good(row) for row in data.batch), len(data.batch), most)]

    return expected


def rows_where(chosen: Callable[[Row], bool], good: Callable[[Row], bool]) -> Oracle:
    return every_row(lambda row: not chosen(row) or good(row))


def each(column: str, good: Good, *, most: Fraction | None = None) -> Oracle:
    """Of the new rows those whose value is good; NULL is."""
    return every_row(lambda row: row[column] is None or good(row[column]), most=most)


def pair(one: str, other: str, good: Callable[[Any, Any], bool]) -> Oracle:
    """The same of two columns: a NULL on either side is good."""
    return every_row(
        lambda row: row[one] is None or row[other] is None or good(row[one], row[other])
    )


def several(*oracles: Oracle) -> Oracle:
    """One after the other, where a rule stands for several."""
    return lambda data: [reported for oracle in oracles for reported in oracle(data)]


def counted(failed: int, rows: int, most: Fraction | None = None) -> Expected:
    share = Fraction(failed, rows) if rows else Fraction(0)
    return Expected(failed == 0 if most is None else share <= most, failed)


def valued(value: Callable[[Data], Any], low: float | None, high: float | None) -> Oracle:
    """One value between bounds, both of which belong to it; without a value it fails."""

    def expected(data: Data) -> list[Expected]:
        found = value(data)
        return [Expected(between(found, low, high), value=found)]

    return expected


def between(value: Any, low: Any, high: Any) -> bool:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return False
    return (low is None or value >= low) and (high is None or value <= high)


def settled(holds: Callable[[Data], bool]) -> Oracle:
    return lambda data: [Expected(holds(data))]


def present(rows: Iterable[Row], column: str) -> list[Any]:
    return [row[column] for row in rows if row[column] is not None]


def alike(value: Any) -> Any:
    """Equal for values that are one: all NaNs, and both zeros."""
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


def keys(rows: Iterable[Row], columns: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """Those without a NULL."""
    found = [tuple(alike(row[column]) for column in columns) for row in rows]
    return [key for key in found if None not in key]


def repeated(rows: Iterable[Row], *columns: str) -> int:
    """Rows whose key another row has too."""
    return sum(times for times in Counter(keys(rows, columns)).values() if times > 1)


def no_repeats(*columns: str, most: Fraction | None = None) -> Oracle:
    return lambda data: [counted(repeated(data.table, *columns), len(data.table), most)]


def name(column: str) -> str:
    """As a rule writes it."""
    return f"`{column}`" if " " in column else column

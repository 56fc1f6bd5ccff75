"""What measures of keys, groups and sequences mean, in plain Python.

Values are Python's own: a date or time may be one, or the number that stands for it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from itertools import groupby, pairwise
from typing import Any

from lakeguard_sdk.expressions.measures import (
    ComparedPart,
    ComparedRows,
    DistinctCount,
    DistinctValues,
    Distribution,
    GroupBreach,
    GroupPart,
    IntervalFault,
    IntervalFaults,
    JsonFaults,
    MeasureValue,
    MostCommonRows,
    OutOfOrder,
    SequenceGaps,
    UnmatchedRows,
)
from tests.property.measure import distribution_oracle, json_oracle

Row = dict[str, Any]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def in_order(value: Any) -> Any:
    """NULL first, NaN above everything, texts by their bytes; equal values have equal places."""
    if value is None:
        return (0, 0)
    if isinstance(value, float):
        return (2, 0) if math.isnan(value) else (1, value)
    return (1, value.encode() if isinstance(value, str) else value)


def place(value: Any) -> Any:
    """A date or time as a number."""
    if isinstance(value, datetime):
        zoned = value if value.tzinfo else value.replace(tzinfo=UTC)
        return (zoned - _EPOCH) // timedelta(microseconds=1)
    return value.toordinal() if isinstance(value, date) else value


def key_of(row: Row, columns: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(in_order(row[column.name]) for column in columns)


def groups(rows: Sequence[Row], by: Sequence[Any]) -> list[list[Row]]:
    ordered = sorted(rows, key=lambda row: key_of(row, by))
    return [list(found) for _, found in groupby(ordered, key=lambda row: key_of(row, by))]


def whole(row: Row, columns: Sequence[Any]) -> bool:
    return all(row[column.name] is not None for column in columns)


def count(question: Any, rows: Sequence[Row], others: Sequence[Row] = ()) -> MeasureValue:
    """Of the rows that the question's scope and condition leave; ``others`` are referred to."""
    match question:
        case DistinctCount(columns=columns):
            return len({key_of(row, columns) for row in rows if whole(row, columns)})
        case MostCommonRows(columns=columns):
            found = Counter(key_of(row, columns) for row in rows if whole(row, columns))
            return max(found.values(), default=0)
        case DistinctValues(column=column, most=most):
            return _digests([row for row in rows if row[column.name] is not None], column, most)
        case Distribution(column=column):
            return distribution_oracle.spread(question, [row[column.name] for row in rows])
        case UnmatchedRows(columns=columns, to=to, found=found):
            known = {tuple(in_order(place(row[name])) for name in to) for row in others}
            keys = [
                tuple(in_order(place(row[column.name])) for column in columns)
                for row in rows
                if whole(row, columns)
            ]
            return sum((key in known) is found for key in keys)
        case ComparedRows(part=part, columns=columns, to=to):
            if part is ComparedPart.ALL:
                return len(rows) + len(others)
            here = Counter(key_of(row, columns) for row in rows)
            names = to or tuple(column.name for column in columns)
            here.subtract(tuple(in_order(row[name]) for name in names) for row in others)
            return sum(map(abs, here.values()))
        case JsonFaults(column=column):
            texts = [row[column.name] for row in rows if row[column.name] is not None]
            return json_oracle.faults(question, texts)
        case SequenceGaps(column=column, step=step, by=by):
            return sum(_gaps(found, column.name, step) for found in groups(rows, by))
        case OutOfOrder(by=by):
            return sum(_disorder(found, question) for found in groups(rows, by))
        case IntervalFaults(by=by):
            return sum(_faults(found, question) for found in groups(rows, by))
    raise AssertionError(question)


def _digests(rows: list[Row], column: Any, most: int) -> str:
    values = {in_order(row[column.name]) for row in rows}
    if len(values) > most:
        raise OverflowError
    return ",".join(sorted(sha256(repr(value).encode()).hexdigest()[:16] for value in values))


def _gaps(rows: list[Row], name: str, step: int) -> int:
    places = sorted(place(row[name]) for row in rows if row[name] is not None)
    return sum(later - earlier > step for earlier, later in pairwise(places))


def _disorder(rows: list[Row], question: OutOfOrder) -> int:
    present = [row for row in rows if whole(row, (question.column, question.along))]
    value: Callable[[Row], Any] = lambda row: in_order(row[question.column.name])  # noqa: E731
    present.sort(key=value, reverse=question.descending)
    present.sort(key=lambda row: in_order(row[question.along.name]))
    failing = 0
    for earlier, later in pairwise(present):
        before, after = value(earlier), value(later)
        wrong = after > before if question.descending else after < before
        failing += wrong or (question.strict and after == before)
    return failing


def _faults(rows: list[Row], question: IntervalFaults) -> int:
    start, end = question.start.name, question.end.name
    present = sorted(
        (place(row[start]), math.inf if row[end] is None else place(row[end]))
        for row in rows
        if row[start] is not None
    )
    failing = 0
    for index, (begins, _) in enumerate(present[1:], 1):
        latest = max(ends for _, ends in present[:index])
        overlaps = question.fault is IntervalFault.OVERLAP
        failing += begins < latest if overlaps else begins > latest
    return failing


def breach(
    question: GroupBreach, rows: Sequence[Row], value_of: Callable[[list[Row]], MeasureValue]
) -> MeasureValue:
    """Of the rows that its condition leaves; ``value_of`` answers the question of one group."""
    failing = [
        (beyond, found)
        for found in groups(rows, question.by)
        if (beyond := _beyond(value_of(found), question)) is not None
    ]
    if question.part is GroupPart.ROWS:
        return sum(len(found) for _, found in failing)
    if question.part is GroupPart.GROUPS:
        return len(failing)
    return value_of(max(failing, key=lambda item: item[0])[1]) if failing else None


def _beyond(value: MeasureValue, question: GroupBreach) -> Any:
    """How far out it is, in an order that puts the worst last; None within the bounds."""
    if value is None:
        return (0, 0)
    if value == "NaN":
        return (2, 0)
    low, high, number = (_number(item) for item in (question.low, question.high, value))
    if low is not None and number < low:
        return (1, low - number)
    if high is not None and number > high:
        return (1, number - high)
    return None


def _number(value: Any) -> Any:
    if value is None:
        return None
    text = str(value)
    if text[4:5] == "-" and text[7:8] == "-":
        moment = datetime.fromisoformat(text)
        return Fraction(place(moment if moment.tzinfo else moment.replace(tzinfo=UTC)))
    if "Infinity" in text:
        return float(text)
    return Fraction(Decimal(text))

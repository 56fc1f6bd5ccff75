"""Measures over plain rows, by the letter of their definitions: three-valued, NaN on top."""

from __future__ import annotations

import math
import re
from collections import Counter
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from lakeguard_sdk.expression import (
    And,
    ColumnRef,
    Compare,
    Comparison,
    Condition,
    InSet,
    IsNan,
    IsNull,
    Length,
    Matches,
    Not,
    Or,
    Value,
)
from lakeguard_sdk.measure import (
    Aggregate,
    AggregateFunction,
    CountIf,
    DuplicateRows,
    Measure,
    MeasureValue,
    RowCount,
)
from lakeguard_sdk.words import Scope

Row = dict[str, Any]
Truth = bool | None


def measured(measure: Measure, rows: list[Row], table: list[Row]) -> MeasureValue:
    """The value that evidence would hold for the new rows in a table of ``table`` rows."""
    seen = table if getattr(measure, "scope", Scope.BATCH) is Scope.TABLE else rows
    where = measure.where
    inside = [row for row in seen if where is None or holds(where, row)]
    match measure:
        case RowCount():
            return len(inside)
        case CountIf(condition=condition):
            return sum(holds(condition, row) is True for row in inside)
        case DuplicateRows(columns=columns):
            keys = [tuple(_key(row[column.name]) for column in columns) for row in inside]
            counts = Counter(key for key in keys if None not in key)
            return sum(count for count in counts.values() if count > 1)
        case Aggregate(function=function, column=column):
            values = [row[column.name] for row in inside if row[column.name] is not None]
            return _aggregate(function, values, column.type)


def holds(condition: Condition, row: Row) -> Truth:
    match condition:
        case And(items=items):
            return _both([holds(item, row) for item in items])
        case Or(items=items):
            return _not(_both([_not(holds(item, row)) for item in items]))
        case Not(item=item):
            return _not(holds(item, row))
        case IsNull(of=ref):
            return row[ref.name] is None
        case IsNan(of=ref):
            value = row[ref.name]
            return None if value is None else isinstance(value, float) and math.isnan(value)
        case InSet(of=ref, values=values):
            found = row[ref.name]
            return None if found is None else any(_typed(v) == found for v in values)
        case Matches(of=ref, pattern=pattern):
            found = row[ref.name]
            return None if found is None else re.fullmatch(pattern, found, re.ASCII) is not None
        case Compare(op=op, left=left, right=right):
            return _compare(op, _operand(left, row), _operand(right, row))


def _both(truths: list[Truth]) -> Truth:
    if False in truths:
        return False
    return None if None in truths else True


def _not(truth: Truth) -> Truth:
    return None if truth is None else not truth


def _operand(operand: ColumnRef | Value | Length, row: Row) -> Any:
    match operand:
        case ColumnRef(name=name):
            return row[name]
        case Length(of=ref):
            return None if row[ref.name] is None else len(row[ref.name])
        case Value():
            return _typed(operand)


def _typed(value: Value) -> Any:
    if value.type in ("float", "double"):
        return float(value.text)
    if value.type == "boolean":
        return value.text == "true"
    if value.type == "date":
        return date.fromisoformat(value.text)
    if value.type.startswith("timestamp"):
        return datetime.fromisoformat(value.text)
    return value.text if value.type == "string" else Decimal(value.text)


def _compare(op: Comparison, left: Any, right: Any) -> Truth:
    if left is None or right is None:
        return None
    one, other = _ordered(left), _ordered(right)
    truths: dict[Comparison, bool] = {
        Comparison.EQ: one == other,
        Comparison.NE: one != other,
        Comparison.LT: one < other,
        Comparison.LE: one <= other,
        Comparison.GT: one > other,
        Comparison.GE: one >= other,
    }
    return truths[op]


def _ordered(value: Any) -> Any:
    """NaN equals itself and is above everything, as engines have it."""
    if isinstance(value, float) and math.isnan(value):
        return (1, 0)
    return (0, value.encode() if isinstance(value, str) else value)


def _key(value: Any) -> Any:
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


def _aggregate(function: AggregateFunction, values: list[Any], data_type: str) -> MeasureValue:
    if not values:
        return None
    if function is AggregateFunction.SUM:
        return _told(sum(values), data_type)
    if function is AggregateFunction.MEAN:
        return _told(float(sum(values)) / len(values), "double")
    chosen = min if function is AggregateFunction.MIN else max
    return _told(chosen(values, key=_ordered), data_type)


def _told(value: Any, data_type: str) -> MeasureValue:
    if isinstance(value, float):
        return float(f"{value:.12g}") if math.isfinite(value) else str(Decimal(value))
    if isinstance(value, datetime):
        zoned = value.tzinfo is not None
        plain = (value.astimezone(UTC) if zoned else value).replace(tzinfo=None)
        return plain.isoformat(timespec="microseconds") + ("Z" if zoned else "")
    if isinstance(value, date):
        return value.isoformat()
    return format(value, "f") if data_type.startswith("decimal") else int(value)

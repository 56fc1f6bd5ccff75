"""Measures over plain rows, by the letter of their definitions: three-valued, NaN on top."""

from __future__ import annotations

import math
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from statistics import stdev
from typing import Any

from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.expressions.conditions import ColumnRef, Condition, type_of
from lakeguard_sdk.expressions.measures import (
    Aggregate,
    AggregateFunction,
    CountIf,
    DuplicateRows,
    GroupBreach,
    GroupFaults,
    Measure,
    MeasureValue,
    Quantile,
    RowCount,
)
from tests.property.measure import sequence_oracle, total_oracle
from tests.property.measure.literals import EPOCH
from tests.property.measure.scalar_oracle import scalar, truth

Row = dict[str, Any]
Truth = bool | None


def measured(
    measure: Measure, rows: list[Row], table: list[Row], others: list[Row] | None = None
) -> MeasureValue:
    """The value that evidence would hold for the new rows in a table of ``table`` rows."""
    scoped = measure.of if isinstance(measure, GroupBreach) else measure
    seen = table if getattr(scoped, "scope", Scope.BATCH) is Scope.TABLE else rows
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
        case Aggregate(function=function, column=ColumnRef(name=name, type=data_type)):
            values = [row[name] for row in inside if row[name] is not None]
            return _aggregate(function, values, data_type)
        case Aggregate(function=function, column=column):
            values = [scalar(column, _plain_row(row)) for row in inside]
            present = [value for value in values if value is not None]
            return _aggregate(function, present, type_of(column))
        case Quantile(q=q, column=column):
            values = [row[column.name] for row in inside if row[column.name] is not None]
            return _quantile([float(value) for value in values], float(q))
        case GroupFaults():
            return total_oracle.faults(
                measure, inside, lambda term, group: measured(term, group, group)
            )
        case GroupBreach(of=of):
            return sequence_oracle.breach(measure, inside, lambda group: measured(of, group, group))
        case _:
            return sequence_oracle.count(measure, inside, others or [])


def _quantile(values: list[float], q: float) -> MeasureValue:
    if not values:
        return None
    if not all(math.isfinite(value) for value in values):
        return "NaN"
    values.sort()
    at = q * (len(values) - 1)
    low, high = values[math.floor(at)], values[math.ceil(at)]
    return _told(low + (high - low) * (at - math.floor(at)), "double")


def holds(condition: Condition, row: Row) -> Truth:
    return truth(condition, _plain_row(row))


def _plain_row(row: Row) -> Row:
    return {name: _plain(value) for name, value in row.items()}


def _plain(value: Any) -> Any:
    """Days and microseconds since 1970 for dates and times."""
    if isinstance(value, datetime):
        zoned = value if value.tzinfo else value.replace(tzinfo=UTC)
        return (zoned - EPOCH) // timedelta(microseconds=1)
    return (value - EPOCH.date()).days if isinstance(value, date) else value


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
    if function is AggregateFunction.DEVIATION:
        if not all(math.isfinite(value) for value in values):
            return "NaN"
        return _told(stdev(map(float, values)), "double") if len(values) > 1 else None
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

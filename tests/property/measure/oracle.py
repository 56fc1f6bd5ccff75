"""What every measure means, in plain Python: slow, obvious, and without any engine.

A row is a dict. NULL is None, a date is a number of days, a time a number of microseconds.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from lakeguard_sdk.expressions.conditions import (
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
from lakeguard_sdk.expressions.measures import (
    Aggregate,
    AggregateFunction,
    CountIf,
    DuplicateRows,
    RowCount,
)
from lakeguard_sdk.types.schema import FLOATS, INTEGERS
from tests.property.measure.literals import from_text

Row = dict[str, Any]
_MICROS_PER_DAY = 86_400_000_000


def truth(condition: Condition, row: Row) -> bool | None:
    """TRUE, FALSE or NULL."""
    match condition:
        case And(items=items):
            found = [truth(item, row) for item in items]
            return False if False in found else None if None in found else True
        case Or(items=items):
            found = [truth(item, row) for item in items]
            return True if True in found else None if None in found else False
        case Not(item=item):
            inner = truth(item, row)
            return None if inner is None else not inner
        case IsNull(of=ref):
            return row[ref.name] is None
        case IsNan(of=ref):
            return None if row[ref.name] is None else math.isnan(row[ref.name])
        case Matches(of=ref, pattern=pattern):
            text = row[ref.name]
            return None if text is None else re.fullmatch(pattern, text, re.ASCII) is not None
        case InSet(of=ref, values=values):
            value = row[ref.name]
            wanted = [order(from_text(item)) for item in values]
            return False if not wanted else None if value is None else order(value) in wanted
        case Compare(op=op, left=left, right=right):
            return _compare(op, left, right, row)


def _compare(op: Comparison, left: Any, right: Any, row: Row) -> bool | None:
    one, other = _operand(left, row), _operand(right, row)
    if one is None or other is None:
        return None
    one, other = order(one), order(other)
    return {
        Comparison.EQ: one == other,
        Comparison.NE: one != other,
        Comparison.LT: one < other,
        Comparison.LE: one <= other,
        Comparison.GT: one > other,
        Comparison.GE: one >= other,
    }[op]


def _operand(operand: ColumnRef | Value | Length, row: Row) -> Any:
    match operand:
        case Value():
            return _as_time(from_text(operand), operand.type)
        case Length(of=ref):
            return None if row[ref.name] is None else len(row[ref.name])
        case ColumnRef(name=name, type=data_type):
            return _as_time(row[name], data_type)


def _as_time(value: Any, data_type: str) -> Any:
    return value * _MICROS_PER_DAY if data_type == "date" and value is not None else value


def order(value: Any) -> Any:
    """A key in which the engines' order is Python's: NaN is one value above all, text is bytes."""
    if isinstance(value, float):
        return (1, 0) if math.isnan(value) else (0, value)
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return (0, value)
    return value.encode() if isinstance(value, str) else value


def measure(question: Any, batch: Sequence[Row], table: Sequence[Row]) -> Any:
    """The value as Python has it; how evidence spells it is the test's matter."""
    match question:
        case RowCount(scope=scope, where=where):
            return len(chosen(table if scope == "table" else batch, where))
        case CountIf(condition=condition, where=where):
            return sum(truth(condition, row) is True for row in chosen(batch, where))
        case DuplicateRows(columns=columns, scope=scope, where=where):
            rows = chosen(table if scope == "table" else batch, where)
            keys = [tuple(row[column.name] for column in columns) for row in rows]
            groups = Counter(tuple(map(order, key)) for key in keys if None not in key)
            return sum(count for count in groups.values() if count > 1)
        case Aggregate(function=function, column=column, where=where):
            values = [row[column.name] for row in chosen(batch, where)]
            present = [value for value in values if value is not None]
            return _aggregate(function, column.type, present) if present else None
    raise AssertionError(question)


def chosen(rows: Sequence[Row], where: Condition | None) -> list[Row]:
    return [row for row in rows if where is None or truth(where, row) is True]


def _aggregate(function: AggregateFunction, data_type: str, values: list[Any]) -> Any:
    if function is AggregateFunction.MIN:
        return min(values, key=order)
    if function is AggregateFunction.MAX:
        return max(values, key=order)
    if data_type in FLOATS:
        total = double_sum(values)
        return total if function is AggregateFunction.SUM else total / len(values)
    exact: Fraction = sum((Fraction(value) for value in values), Fraction(0))
    if function is AggregateFunction.MEAN:
        return float(exact / len(values))
    return sum(values) if data_type in INTEGERS else _decimal_sum(values)


def _decimal_sum(values: list[Decimal]) -> Decimal:
    with localcontext(prec=80):
        return sum(values, Decimal(0))


def double_sum(values: list[float]) -> float:
    if any(math.isnan(value) for value in values):
        return math.nan
    infinite = {value for value in values if math.isinf(value)}
    if infinite:
        return math.nan if len(infinite) == 2 else infinite.pop()
    return math.fsum(values)

"""Measures as aggregate expressions, and the conversion of their results."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from lakeguard_sdk.expressions.conditions import Condition, type_of
from lakeguard_sdk.expressions.measures import (
    Aggregate,
    AggregateFunction,
    CountIf,
    MeasureValue,
    Quantile,
    RowCount,
    measure_key,
)
from lakeguard_sdk.types.schema import (
    FLOATS,
    INTEGERS,
    decimal_size,
    is_numeric,
)
from openlaketx.measure.sql.aggregate_sql import Forms
from openlaketx.measure.sql.condition_sql import WIDEST, ConditionSql
from openlaketx.measure.sql.value_text import (
    day,
    double,
    exact,
    instant,
    local_instant,
    mean,
    rounded,
    whole,
)

Finish = Callable[[Sequence[Any]], MeasureValue]


@dataclass(frozen=True)
class Question:
    """``expressions`` are evaluated in one scan together with those of other questions."""

    key: str
    expressions: tuple[str, ...]
    finish: Finish


class Valued(NamedTuple):
    """SQL of the aggregated value, and its type."""

    sql: str
    type: str


def ask(
    measure: RowCount | CountIf | Aggregate | Quantile, sql: ConditionSql, forms: Forms
) -> Question:
    """ValueError if the measure has no exact form."""
    match measure:
        case RowCount(where=where):
            return _count(measure, _asked(sql, where), forms)
        case CountIf(condition=condition, where=where):
            return _count(measure, _asked(sql, where, condition), forms)
        case Quantile(column=column, q=q, where=where):
            value = Valued(sql.scalar(column), type_of(column))
            expressions, finish = _quantile(value, q, chosen_rows(sql, where), forms)
            return Question(measure_key(measure), expressions, finish)
        case Aggregate(function=function, column=column, where=where):
            value = Valued(sql.scalar(column), type_of(column))
            expressions, finish = _aggregate(function, value, chosen_rows(sql, where), forms)
            return Question(measure_key(measure), expressions, finish)


def chosen_rows(sql: ConditionSql, *conditions: Condition | None) -> str:
    """A FILTER clause instead of WHERE: DuckDB would skip row groups by statistics that ignore
    NaN."""
    asked = _asked(sql, *conditions)
    return f" FILTER (WHERE {asked})" if asked else ""


def _asked(sql: ConditionSql, *conditions: Condition | None) -> str:
    """All conditions; each is evaluated only where the one before it is TRUE: it may raise for
    other rows. Empty without conditions."""
    written = [sql.condition(condition) for condition in conditions if condition is not None]
    asked = written.pop() if written else ""
    for before in reversed(written):
        asked = f"CASE WHEN {before} THEN {asked} ELSE FALSE END"
    return asked


def _count(measure: RowCount | CountIf, asked: str, forms: Forms) -> Question:
    counted = forms.count_where(asked) if asked else "count(*)"
    return Question(measure_key(measure), (counted,), lambda row: whole(row[0]))


def _aggregate(
    function: AggregateFunction, of: Valued, chosen: str, forms: Forms
) -> tuple[tuple[str, ...], Finish]:
    name, data_type = of
    if function in (AggregateFunction.MIN, AggregateFunction.MAX):
        return _extreme(function.value, of, chosen, forms)
    if function is AggregateFunction.DEVIATION:
        return _deviation(of, chosen, forms)
    if data_type in FLOATS:
        value = f"CAST({name} AS DOUBLE)"
        # the bounds in the form of _extreme, so that they are computed once
        bounds = (f"{word}({value} + 0e0)" for word in ("min", "max"))
        asked = (forms.careful_sum(value), *bounds, f"count({name})")
        expressions = tuple(f"{part}{chosen}" for part in asked)
        if function is AggregateFunction.SUM:
            return expressions[:-1], lambda row: rounded(_double_sum(*row))
        return expressions, lambda row: _double_mean(*row)
    size = decimal_size(data_type)
    if data_type not in INTEGERS and size is None:
        raise ValueError(f"{function.value} is not defined for {data_type}")
    total = f"sum(CAST({name} AS DECIMAL({WIDEST},{size[1]})))" if size else forms.whole_sum(name)
    total, count = f"{total}{chosen}", f"count({name}){chosen}"
    if function is AggregateFunction.MEAN:
        return (total, count), lambda row: mean(row[0], row[1])
    return (total,), lambda row: exact(row[0], size[1]) if size else whole(row[0])


def _deviation(of: Valued, chosen: str, forms: Forms) -> tuple[tuple[str, ...], Finish]:
    value, odd = _doubles(of, chosen, forms, "deviation")
    expressions = (f"stddev_samp({value}){chosen}", odd)
    return expressions, lambda row: _finite(row[0], row[1])


def _quantile(of: Valued, q: str, chosen: str, forms: Forms) -> tuple[tuple[str, ...], Finish]:
    value, odd = _doubles(of, chosen, forms, "quantile")
    expressions = (f"{forms.quantile(value, q)}{chosen}", odd)
    return expressions, lambda row: _finite(row[0], row[1])


def _doubles(of: Valued, chosen: str, forms: Forms, what: str) -> tuple[str, str]:
    """The finite values as doubles, and the count of others, which engines treat differently."""
    if not is_numeric(of.type):
        raise ValueError(f"{what} is not defined for {of.type}")
    value = f"CAST({of.sql} AS DOUBLE)"
    if of.type not in FLOATS:
        return value, "0"
    odd = f"({forms.dialect.is_nan(value)} OR {forms.is_infinite(value)})"
    return f"CASE WHEN NOT {odd} THEN {value} END", f"count(CASE WHEN {odd} THEN 1 END){chosen}"


def _finite(value: float | None, odd: int) -> MeasureValue:
    if odd:
        return "NaN"
    if value is not None and not math.isfinite(value):
        raise OverflowError("the value exceeds the range of a double")
    return rounded(value)


def _extreme(word: str, of: Valued, chosen: str, forms: Forms) -> tuple[tuple[str, ...], Finish]:
    """Minimum or maximum; -0.0 equals 0.0, and NaN is greater than every other value."""
    expression, decode = plain_value(of, forms, lambda value: f"{word}({value}){chosen}")
    return (expression,), lambda row: decode(row[0])


def plain_value(
    of: Valued, forms: Forms, inside: Callable[[str], str] = str
) -> tuple[str, Callable[[Any], MeasureValue]]:
    """SQL in a form that every engine returns alike, and how to decode the result."""
    name, data_type = of
    if data_type in FLOATS:
        return inside(f"CAST({name} AS DOUBLE) + 0e0"), double
    if data_type in INTEGERS:
        return inside(name), whole
    if size := decimal_size(data_type):
        return inside(name), lambda value: exact(value, size[1])
    if data_type == "date":
        return forms.days(inside(name)), day
    if data_type in ("timestamp", "timestamp_ntz"):
        return forms.micros(inside(name)), instant if data_type == "timestamp" else local_instant
    if data_type == "binary":
        return f"hex({inside(name)})", _as_it_is
    return forms.text(inside(name)), _as_it_is


def _as_it_is(value: str | None) -> MeasureValue:
    return value


def _double_sum(total: float | None, least: float | None, most: float | None) -> float | None:
    """The sum of doubles, independent of order; ``least`` and ``most`` reveal infinities and NaN.

    OverflowError if finite values overflow.
    """
    if total is None or least is None or most is None:
        return None
    if not (math.isfinite(least) and math.isfinite(most)):
        return least + most if math.isinf(least) else most
    if not math.isfinite(total):
        raise OverflowError("the sum exceeds the range of a double")
    return total


def _double_mean(
    total: float | None, least: float | None, most: float | None, count: int
) -> MeasureValue:
    added = _double_sum(total, least, most)
    return rounded(added / count) if count and added is not None else None

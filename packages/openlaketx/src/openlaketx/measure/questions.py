"""Each measure as aggregate expressions, and what to make of the values they come back with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lakeguard_sdk.expression import Condition
from lakeguard_sdk.measure import (
    Aggregate,
    AggregateFunction,
    CountIf,
    MeasureValue,
    RowCount,
    measure_key,
)
from lakeguard_sdk.schema import FLOATS, INTEGERS, decimal_size
from openlaketx.measure.condition_sql import WIDEST, ConditionSql, quoted
from openlaketx.measure.value_text import (
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
    """``expressions`` share one pass with those of every other question."""

    key: str
    expressions: tuple[str, ...]
    finish: Finish


def ask(measure: RowCount | CountIf | Aggregate, sql: ConditionSql) -> Question:
    """ValueError where the measure has no exact form."""
    match measure:
        case RowCount(where=where):
            return _count(measure, _filter(sql, where))
        case CountIf(condition=condition, where=where):
            return _count(measure, _filter(sql, where, condition))
        case Aggregate(function=function, column=column, where=where):
            name = quoted(column.name)
            expressions, finish = _aggregate(function, name, column.type, _filter(sql, where))
            return Question(measure_key(measure), expressions, finish)


def _count(measure: RowCount | CountIf, chosen: str) -> Question:
    return Question(measure_key(measure), (f"count(*){chosen}",), lambda row: whole(row[0]))


def _filter(sql: ConditionSql, *conditions: Condition | None) -> str:
    written = [sql.condition(condition) for condition in conditions if condition is not None]
    return f" FILTER (WHERE {' AND '.join(written)})" if written else ""


def _aggregate(
    function: AggregateFunction, name: str, data_type: str, chosen: str
) -> tuple[tuple[str, ...], Finish]:
    if function in (AggregateFunction.MIN, AggregateFunction.MAX):
        return _extreme(function.value, name, data_type, chosen)
    if data_type in FLOATS:
        value = f"CAST({name} AS DOUBLE)"
        plain, careful = f"sum({value}){chosen}", f"fsum({value}){chosen}"
        if function is AggregateFunction.SUM:
            return (plain, careful), lambda row: rounded(_double_sum(*row))
        count = f"count({name}){chosen}"
        return (plain, careful, count), lambda row: _double_mean(*row)
    if data_type not in INTEGERS and decimal_size(data_type) is None:
        raise ValueError(f"there is no {function.value} of {data_type}")
    size = decimal_size(data_type)
    value = f"CAST({name} AS DECIMAL({WIDEST},{size[1]}))" if size else name
    total, count = f"sum({value}){chosen}", f"count({name}){chosen}"
    if function is AggregateFunction.MEAN:
        return (total, count), lambda row: mean(row[0], row[1])
    return (total,), lambda row: exact(row[0]) if size else whole(row[0])


def _extreme(word: str, name: str, data_type: str, chosen: str) -> tuple[tuple[str, ...], Finish]:
    """Minimum or maximum; -0.0 is 0.0 and NaN is above everything."""
    if data_type in FLOATS:
        return (f"{word}(CAST({name} AS DOUBLE) + 0e0){chosen}",), lambda row: double(row[0])
    if data_type in INTEGERS:
        return (f"{word}({name}){chosen}",), lambda row: whole(row[0])
    if decimal_size(data_type):
        return (f"{word}({name}){chosen}",), lambda row: exact(row[0])
    if data_type == "date":
        days = f"date_diff('day', DATE '1970-01-01', {word}({name}){chosen})"
        return (days,), lambda row: day(row[0])
    if data_type in ("timestamp", "timestamp_ntz"):
        tell = instant if data_type == "timestamp" else local_instant
        return (f"epoch_us({word}({name}){chosen})",), lambda row: tell(row[0])
    if data_type == "binary":
        return (f"hex({word}({name}){chosen})",), lambda row: row[0]
    return (f"CAST({word}({name}){chosen} AS VARCHAR)",), lambda row: row[0]


def _double_sum(plain: float | None, careful: float | None) -> float | None:
    """The compensated sum, which does not depend on order; it has no meaning with infinities."""
    finite = plain is not None and abs(plain) < float("inf")
    return careful if finite else plain


def _double_mean(plain: float | None, careful: float | None, count: int) -> MeasureValue:
    total = _double_sum(plain, careful)
    return rounded(total / count) if count and total is not None else None

"""``row_count``, ``mean``, ``min``, ``max`` and ``sum``: one value against bounds."""

from __future__ import annotations

from decimal import Decimal
from typing import ClassVar

from lakeguard.gate.judgement import Bounds, Scalar, ValueJudged, ask
from lakeguard.gate.literals import Number
from lakeguard.gate.reading import ReadRule
from lakeguard.gate.resolution import Resolver
from lakeguard.gate.rule_type import ParameterSpec, RuleType
from lakeguard.gate.rule_types.value_range import TIMES
from lakeguard_sdk.measure import Aggregate, AggregateFunction, RowCount
from lakeguard_sdk.schema import FLOATS, INTEGERS, decimal_size, is_numeric

_NO_VALUES = "NULLs are left out; with no value at all the rule fails. A NaN makes the value NaN, "


def check_limits(read: ReadRule) -> None:
    """Bounds or thresholds, not both: there is one truth about the value."""
    rule = read.rule
    low, high = rule.parameter("min"), rule.parameter("max")
    thresholds = rule.warn_if is not None or rule.fail_if is not None
    bounds = low is not None or high is not None
    if thresholds and bounds:
        clause = "fail_if" if rule.fail_if else "warn_if"
        raise read.error(clause, "give min and max, or warn_if and fail_if, not both")
    if not (thresholds or bounds):
        raise read.error("type", f"{rule.rule_type} needs min, max, warn_if or fail_if")
    if isinstance(low, Number) and isinstance(high, Number) and low.value > high.value:
        raise read.error("parameter max", "max is less than min")


class NumberOfRows(RuleType):
    name = "row_count"
    summary = "The run brings as many rows as the bounds allow."
    example = "row_count(min=1)"
    nulls = "Rows are counted, whatever is in them."
    takes = "no column"
    columns = (0, 0)
    parameters = (
        ParameterSpec("min", "whole", "the fewest rows that pass"),
        ParameterSpec("max", "whole", "the most rows that pass"),
    )
    judges = "value"

    def check(self, read: ReadRule) -> None:
        check_limits(read)
        if read.rule.parameter("max") is None and read.rule.parameter("min") == Number(
            value=Decimal(0)
        ):
            raise read.error("parameter min", "there are always at least 0 rows")

    def compile(self, read: ReadRule, columns: Resolver) -> ValueJudged:
        low, high = (_number(read, name) for name in ("min", "max"))
        measure = RowCount(where=columns.where)
        return ValueJudged("new row", ask(measure), Bounds("long", low, high))


class AggregateRule(RuleType):
    """One function over one column; the value is held against bounds that are not rounded."""

    function: ClassVar[AggregateFunction]
    judges = "value"
    parameters = (
        ParameterSpec("min", "bound", "the least value that passes"),
        ParameterSpec("max", "bound", "the greatest value that passes"),
    )

    def check(self, read: ReadRule) -> None:
        check_limits(read)

    def compile(self, read: ReadRule, columns: Resolver) -> ValueJudged:
        column = columns.column()
        ordered = self.function in (AggregateFunction.MIN, AggregateFunction.MAX)
        accepted = is_numeric(column.type) or (ordered and column.type in TIMES)
        columns.column_of("numbers, dates or timestamps" if ordered else "numbers", accepted)
        measure = Aggregate(function=self.function, column=column, where=columns.where)
        bounds = self._bounds(read, columns, column.type)
        return ValueJudged(f"{self.function} of {column.name}", ask(measure), bounds)

    def _bounds(self, read: ReadRule, columns: Resolver, data_type: str) -> Bounds:
        if data_type in TIMES:
            for clause in ("warn_if", "fail_if"):
                if getattr(read.rule, clause) is not None:
                    message = f"values of type {data_type} are held against min= and max="
                    raise read.error(clause, message)
            return columns.bounds(data_type)[2]
        for name in ("min", "max"):
            bound = read.rule.parameter(name)
            if bound is not None and not isinstance(bound, Number):
                raise read.error(
                    f"parameter {name}", f"values of type {data_type} are held against a number"
                )
        low, high = (_number(read, name) for name in ("min", "max"))
        summed = self.function in (AggregateFunction.SUM, AggregateFunction.MEAN)
        return Bounds(self._value_type(data_type), low, high, summed)

    def _value_type(self, data_type: str) -> str:
        total = self.function is AggregateFunction.SUM
        if self.function is AggregateFunction.MEAN or (total and data_type in FLOATS):
            return "double"
        if total:
            scale = 0 if data_type in INTEGERS else (decimal_size(data_type) or (0, 0))[1]
            return f"decimal(38,{scale})"
        return data_type


_NUMBERS = (
    ParameterSpec("min", "number", "the least value that passes"),
    ParameterSpec("max", "number", "the greatest value that passes"),
)


class Mean(AggregateRule):
    name = "mean"
    summary = "The mean of the column lies between the bounds."
    example = "mean(dep_delay, min=5, max=30)"
    nulls = _NO_VALUES + "which fails."
    takes = "numbers"
    parameters = _NUMBERS
    function = AggregateFunction.MEAN


class Least(AggregateRule):
    name = "min"
    summary = "The least value of the column lies between the bounds."
    example = "min(flight_date, min='2013-01-01')"
    nulls = "NULLs are left out; with no value at all the rule fails. NaN is above every number."
    takes = "numbers, dates, timestamps"
    function = AggregateFunction.MIN


class Greatest(AggregateRule):
    name = "max"
    summary = "The greatest value of the column lies between the bounds."
    example = "max(flight_date, min='2013-12-31')"
    nulls = _NO_VALUES + "which fails."
    takes = "numbers, dates, timestamps"
    function = AggregateFunction.MAX


class Total(AggregateRule):
    name = "sum"
    summary = "The sum of the column lies between the bounds."
    example = "sum(seats, min=1)"
    nulls = _NO_VALUES + "which fails."
    takes = "numbers"
    parameters = _NUMBERS
    function = AggregateFunction.SUM


def _number(read: ReadRule, name: str) -> Scalar | None:
    bound = read.rule.parameter(name)
    return bound.value if isinstance(bound, Number) else None

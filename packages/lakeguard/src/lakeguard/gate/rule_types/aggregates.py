"""``row_count``, ``mean``, ``min``, ``max``, ``sum``, ``deviation``: one value within bounds."""

from __future__ import annotations

from decimal import Decimal
from typing import ClassVar

from lakeguard.gate.grammar.literals import Number
from lakeguard.gate.grammar.rule import ParsedRule
from lakeguard.gate.rule_types.rule_type import ParameterSpec, RuleType
from lakeguard.gate.rule_types.value_limits import (
    NUMBERS,
    PAST,
    by_groups,
    check_limits,
    has_past,
    past_of,
    refuse_past,
)
from lakeguard.gate.typecheck.checks import (
    Bounds,
    GroupCheck,
    Scalar,
    ValueCheck,
    measure_ref,
)
from lakeguard.gate.typecheck.resolution import Resolver
from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.expressions.measures import Aggregate, AggregateFunction, RowCount
from lakeguard_sdk.types.schema import (
    FLOATS,
    INTEGERS,
    TIMES,
    decimal_size,
    is_numeric,
)

_NO_VALUES = "NULLs are ignored; with no value at all the rule fails. A NaN makes the value NaN, "


class NumberOfRows(RuleType):
    name = "row_count"
    summary = "The number of rows that the run brings is within the bounds."
    example = "row_count(min=1)"
    nulls = "Every row counts, whatever its values."
    takes = "no column"
    columns = (0, 0)
    parameters = (
        ParameterSpec("min", "whole", "minimum number of rows"),
        ParameterSpec("max", "whole", "maximum number of rows"),
        *PAST,
    )
    limit_target = "value"
    groups = True
    scopes = (Scope.BATCH, Scope.TABLE)

    def check(self, read: ParsedRule) -> None:
        check_limits(read)
        if not has_past(read.rule) and read.rule.parameter("max") is None and _is_zero(read):
            raise read.error("parameter min", "this always holds: there are at least 0 rows")

    def compile(self, read: ParsedRule, columns: Resolver) -> ValueCheck | GroupCheck:
        low, high = (_number(read, name) for name in ("min", "max"))
        scope = read.rule.scope or Scope.BATCH
        measure = RowCount(scope=scope, where=columns.where)
        bounds = Bounds("long", low, high)
        if read.rule.by:
            return by_groups("number of rows", measure, bounds, columns)
        noun = "table row" if scope is Scope.TABLE else "new row"
        return ValueCheck(noun, measure_ref(measure), bounds, past_of(read.rule))


class AggregateRule(RuleType):
    """One aggregate of one column; the bounds are not rounded."""

    function: ClassVar[AggregateFunction]
    limit_target = "value"
    parameters = (
        ParameterSpec("min", "bound", "minimum, inclusive"),
        ParameterSpec("max", "bound", "maximum, inclusive"),
        *PAST,
    )
    groups = True

    def check(self, read: ParsedRule) -> None:
        check_limits(read)

    def compile(self, read: ParsedRule, columns: Resolver) -> ValueCheck | GroupCheck:
        column = columns.column()
        ordered = self.function in (AggregateFunction.MIN, AggregateFunction.MAX)
        accepted = is_numeric(column.type) or (ordered and column.type in TIMES)
        columns.column_of("numbers, dates or timestamps" if ordered else "numbers", accepted)
        measure = Aggregate(function=self.function, column=column, where=columns.where)
        bounds = self._bounds(read, columns, column.type)
        subject = f"{self.function} of {column.name}"
        if read.rule.by:
            return by_groups(subject, measure, bounds, columns)
        return ValueCheck(subject, measure_ref(measure), bounds, past_of(read.rule))

    def _bounds(self, read: ParsedRule, columns: Resolver, data_type: str) -> Bounds:
        if data_type in TIMES:
            for clause in ("warn_if", "fail_if"):
                if getattr(read.rule, clause) is not None:
                    message = f"values of type {data_type} need min= or max="
                    raise read.error(clause, message)
            refuse_past(read, f"values of type {data_type} cannot be compared with history")
            return columns.bounds(data_type)[2]
        for name in ("min", "max"):
            bound = read.rule.parameter(name)
            if bound is not None and not isinstance(bound, Number):
                raise read.error(
                    f"parameter {name}", f"values of type {data_type} need a number as bound"
                )
        low, high = (_number(read, name) for name in ("min", "max"))
        summed = self.function not in (AggregateFunction.MIN, AggregateFunction.MAX)
        return Bounds(self._value_type(data_type), low, high, summed)

    def _value_type(self, data_type: str) -> str:
        total = self.function is AggregateFunction.SUM
        if self.function in _DOUBLES or (total and data_type in FLOATS):
            return "double"
        if total:
            scale = 0 if data_type in INTEGERS else (decimal_size(data_type) or (0, 0))[1]
            return f"decimal(38,{scale})"
        return data_type


_DOUBLES = (AggregateFunction.MEAN, AggregateFunction.DEVIATION)


class Mean(AggregateRule):
    name = "mean"
    summary = "The mean of the column is within the bounds."
    example = "mean(dep_delay, min=5, max=30)"
    nulls = _NO_VALUES + "which fails."
    takes = "numbers"
    parameters = NUMBERS
    function = AggregateFunction.MEAN


class Least(AggregateRule):
    name = "min"
    summary = "The minimum of the column is within the bounds."
    example = "min(flight_date, min='2013-01-01')"
    nulls = (
        "NULLs are ignored; with no value at all the rule fails. NaN is greater than every number."
    )
    takes = "numbers, dates, timestamps"
    function = AggregateFunction.MIN


class Greatest(AggregateRule):
    name = "max"
    summary = "The maximum of the column is within the bounds."
    example = "max(flight_date, min='2013-12-31')"
    nulls = _NO_VALUES + "which fails."
    takes = "numbers, dates, timestamps"
    function = AggregateFunction.MAX


class Total(AggregateRule):
    name = "sum"
    summary = "The sum of the column is within the bounds."
    example = "sum(seats, min=1)"
    nulls = _NO_VALUES + "which fails."
    takes = "numbers"
    parameters = NUMBERS
    function = AggregateFunction.SUM


class Deviation(AggregateRule):
    name = "deviation"
    summary = "The sample standard deviation of the column is within the bounds."
    example = "deviation(dep_delay, max=60)"
    nulls = (
        "NULLs are ignored; with fewer than two values the rule fails. NaN and infinities "
        "make the value NaN, which fails."
    )
    takes = "numbers"
    parameters = NUMBERS
    function = AggregateFunction.DEVIATION


def _number(read: ParsedRule, name: str) -> Scalar | None:
    bound = read.rule.parameter(name)
    return bound.value if isinstance(bound, Number) else None


def _is_zero(read: ParsedRule) -> bool:
    return read.rule.parameter("min") == Number(value=Decimal(0))

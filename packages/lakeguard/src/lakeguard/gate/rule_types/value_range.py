"""``range(column, min=, max=)``"""

from __future__ import annotations

from decimal import Decimal

from lakeguard.gate.grammar.literals import Number
from lakeguard.gate.grammar.rule import ParsedRule
from lakeguard.gate.rule_types.nulls import failing_rows
from lakeguard.gate.rule_types.rule_type import ParameterSpec, RuleType
from lakeguard.gate.typecheck.checks import RowCheck, measure_ref
from lakeguard.gate.typecheck.resolution import Resolver
from lakeguard_sdk.expressions.conditions import (
    And,
    Compare,
    Comparison,
    Condition,
    IsNan,
    Length,
    Or,
    Scalar,
    Value,
)
from lakeguard_sdk.expressions.measures import (
    Aggregate,
    AggregateFunction,
    CountIf,
    RowCount,
)
from lakeguard_sdk.types.schema import FLOATS, TIMES, is_numeric


def check_bounds(read: ParsedRule) -> None:
    """Requires at least one bound, and min <= max."""
    low, high = read.rule.parameter("min"), read.rule.parameter("max")
    if low is None and high is None:
        raise read.error("type", f"{read.rule.rule_type} needs min, max or both")
    if isinstance(low, Number) and isinstance(high, Number) and low.value > high.value:
        raise read.error("parameter max", "max is less than min")


def outside(of: Scalar, low: Value | None, high: Value | None) -> list[Condition]:
    """Conditions that hold outside of the bounds."""
    found: list[Condition] = []
    if low is not None:
        found.append(Compare(op=Comparison.LT, left=of, right=low))
    if high is not None:
        found.append(Compare(op=Comparison.GT, left=of, right=high))
    return found


def any_of(conditions: list[Condition]) -> Condition:
    return conditions[0] if len(conditions) == 1 else Or(items=tuple(conditions))


class ValueRange(RuleType):
    name = "range"
    summary = "Every value is within the bounds, which are inclusive."
    example = "range(dep_delay, min=-120, max=2000) fail_if > 0.1%"
    nulls = "NULL passes. NaN fails."
    takes = "numbers, dates, timestamps"
    parameters = (
        ParameterSpec("min", "bound", "minimum, inclusive"),
        ParameterSpec("max", "bound", "maximum, inclusive"),
    )

    def check(self, read: ParsedRule) -> None:
        check_bounds(read)

    def compile(self, read: ParsedRule, columns: Resolver) -> RowCheck:
        column = columns.column()
        accepted = is_numeric(column.type) or column.type in TIMES
        instead = ": use length, in_set or regex" if column.type == "string" else ""
        columns.column_of("numbers, dates or timestamps", accepted, instead)
        low, high, bounds = columns.bounds(column.type)
        failing = outside(column, low, high)
        if column.type in FLOATS:
            failing.insert(0, IsNan(of=column))
        where = columns.where
        extremes = tuple(
            measure_ref(Aggregate(function=function, column=column, where=where))
            for function in (AggregateFunction.MIN, AggregateFunction.MAX)
        )
        return RowCheck(
            failed=measure_ref(CountIf(condition=any_of(failing), where=where)),
            scope=measure_ref(RowCount(where=where)),
            extremes=(extremes[0], extremes[1]),
            bounds=bounds,
        )


class TextLength(RuleType):
    name = "length"
    summary = "The length of every text, in characters (code points), is within the bounds."
    example = "length(tail_num, min=5, max=6)"
    nulls = "NULL passes. An empty text has length 0."
    takes = "strings"
    parameters = (
        ParameterSpec("min", "whole", "minimum number of characters"),
        ParameterSpec("max", "whole", "maximum number of characters"),
    )

    def check(self, read: ParsedRule) -> None:
        check_bounds(read)
        if read.rule.parameter("max") is None and read.rule.parameter("min") == Number(
            value=Decimal(0)
        ):
            raise read.error(
                "parameter min", ("this always holds: every text has at least 0 characters")
            )

    def compile(self, read: ParsedRule, columns: Resolver) -> RowCheck:
        column = columns.column()
        columns.column_of("a string", column.type == "string")
        low, high, _ = columns.bounds("integer")
        failing = any_of(outside(Length(of=column), low, high))
        return RowCheck(
            failed=measure_ref(CountIf(condition=failing, where=columns.where)),
            scope=measure_ref(RowCount(where=columns.where)),
        )


# ``not_range(column, min=, max=)``


class OutsideRange(RuleType):
    name = "not_range"
    summary = "No value is within the bounds, which are inclusive."
    example = "not_range(seat, min=13, max=13)"
    nulls = "NULL passes. NaN passes: it is never within bounds."
    takes = "numbers, dates, timestamps"
    parameters = (
        ParameterSpec("min", "bound", "lower end of the forbidden range, inclusive", required=True),
        ParameterSpec("max", "bound", "upper end of the forbidden range, inclusive", required=True),
    )

    def check(self, read: ParsedRule) -> None:
        check_bounds(read)

    def compile(self, read: ParsedRule, columns: Resolver) -> RowCheck:
        column = columns.column()
        accepted = is_numeric(column.type) or column.type in TIMES
        columns.column_of("numbers, dates or timestamps", accepted)
        low, high, _ = columns.bounds(column.type)
        inside: list[Condition] = []
        if low is not None:
            inside.append(Compare(op=Comparison.GE, left=column, right=low))
        if high is not None:
            inside.append(Compare(op=Comparison.LE, left=column, right=high))
        return failing_rows(And(items=tuple(inside)), columns.where)

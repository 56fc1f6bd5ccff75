"""``gaps``, ``increasing``, ``decreasing``, ``no_overlap`` and ``no_interval_gap``"""

from __future__ import annotations

from datetime import timedelta
from typing import ClassVar

from lakeguard.gate.grammar.literals import Flag, Number, Text, duration
from lakeguard.gate.grammar.rule import ParsedRule
from lakeguard.gate.rule_types.rule_type import ParameterSpec, RuleType
from lakeguard.gate.typecheck.checks import RowCheck, measure_ref
from lakeguard.gate.typecheck.comparability import comparable
from lakeguard.gate.typecheck.resolution import Resolver
from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.expressions.measures import (
    AnyMeasure,
    IntervalFault,
    IntervalFaults,
    OutOfOrder,
    RowCount,
    SequenceGaps,
)
from lakeguard_sdk.types.schema import INTEGERS, TIMES

_DAY = timedelta(days=1)


class SequenceRule(RuleType):
    """Ordered rows of the table as it will be after the publish, per group."""

    groups = True
    scopes = (Scope.TABLE, Scope.BATCH)

    def rows(self, read: ParsedRule, columns: Resolver, measure: AnyMeasure) -> RowCheck:
        scope = read.rule.scope or Scope.TABLE
        return RowCheck(
            measure_ref(measure), measure_ref(RowCount(scope=scope, where=columns.where))
        )


class NoGaps(SequenceRule):
    name = "gaps"
    summary = (
        "Consecutive values are at most one step apart. The rows after a gap fail; with `by`, "
        "each group is a separate sequence."
    )
    example = "gaps(flight_date, step='1d') by origin"
    nulls = "NULLs are ignored."
    takes = "integers with a number as step, dates with whole days, timestamps with any duration"
    parameters = (
        ParameterSpec("step", "step", ("maximum distance of consecutive values"), required=True),
    )
    principal = "step"

    def compile(self, read: ParsedRule, columns: Resolver) -> RowCheck:
        column = columns.column()
        columns.column_of("integers, dates or timestamps", column.type in (*INTEGERS, *TIMES))
        measure = SequenceGaps(
            column=column,
            step=_step(read, column.type),
            by=columns.by,
            scope=read.rule.scope or Scope.TABLE,
            where=columns.where,
        )
        return self.rows(read, columns, measure)


def _step(read: ParsedRule, data_type: str) -> int:
    step = read.rule.parameter("step")
    if data_type in INTEGERS:
        if isinstance(step, Number):
            return int(step.value)
        raise read.error("parameter step", f"values of type {data_type} need a number as step")
    if not isinstance(step, Text):
        raise read.error(
            "parameter step", (f"values of type {data_type} need a duration as step, such as 1d")
        )
    span = duration(step.value)
    if data_type != "date":
        return span // timedelta(microseconds=1)
    if span % _DAY:
        raise read.error("parameter step", "a step between dates must be whole days")
    return span // _DAY


class Ordered(SequenceRule):
    """Values ordered by another column."""

    descending: ClassVar[bool]
    nulls = "Rows with a NULL in either column are ignored. NaN is greater than every number."
    takes = "two columns that can be ordered: not boolean, binary or nested"
    columns = (2, 2)
    parameters = (
        ParameterSpec("strict", "flag", "whether equal values fail too; false by default"),
    )

    def compile(self, read: ParsedRule, columns: Resolver) -> RowCheck:
        column, along = columns.every
        for index, one in enumerate(columns.every):
            if one.type in ("boolean", "binary"):
                message = f"{one.name} is {one.type}, which cannot be ordered"
                raise read.error(f"column {index}", message)
        strict = read.rule.parameter("strict")
        measure = OutOfOrder(
            column=column,
            along=along,
            descending=self.descending,
            strict=isinstance(strict, Flag) and strict.value,
            by=columns.by,
            scope=read.rule.scope or Scope.TABLE,
            where=columns.where,
        )
        return self.rows(read, columns, measure)


class Increasing(Ordered):
    name = "increasing"
    summary = (
        "Ordered by the second column, no value of the first is lower than the previous one. "
        "Rows with the same value in the second column may come in any order."
    )
    example = "increasing(odometer, read_at) by car"
    descending = False


class Decreasing(Ordered):
    name = "decreasing"
    summary = (
        "Ordered by the second column, no value of the first is higher than the previous one. "
        "Rows with the same value in the second column may come in any order."
    )
    example = "decreasing(stock_left, counted_at, strict=true) by article"
    descending = True


class Intervals(SequenceRule):
    """Intervals from one column to another."""

    fault: ClassVar[IntervalFault]
    nulls = "Rows without a start are ignored. A NULL end means that the interval is open."
    takes = "two columns of one type: integers, dates or timestamps"
    columns = (2, 2)

    def compile(self, read: ParsedRule, columns: Resolver) -> RowCheck:
        start, end = columns.every
        columns.column_of("integers, dates or timestamps", start.type in (*INTEGERS, *TIMES))
        if start.type != end.type or not comparable(start.type, end.type):
            message = f"{end.name} is {end.type}, and {start.name} is {start.type}"
            raise read.error("column 1", message)
        measure = IntervalFaults(
            fault=self.fault,
            start=start,
            end=end,
            by=columns.by,
            scope=read.rule.scope or Scope.TABLE,
            where=columns.where,
        )
        return self.rows(read, columns, measure)


class NoOverlap(Intervals):
    name = "no_overlap"
    summary = (
        "No interval starts before an earlier one of its group has ended; the end is exclusive."
    )
    example = "no_overlap(valid_from, valid_to) by customer"
    fault = IntervalFault.OVERLAP


class NoIntervalGap(Intervals):
    name = "no_interval_gap"
    summary = "No interval starts after all earlier ones of its group have ended."
    example = "no_interval_gap(valid_from, valid_to) by customer"
    fault = IntervalFault.GAP

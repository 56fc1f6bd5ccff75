"""``gaps``, ``increasing``, ``decreasing``, ``no_overlap`` and ``no_interval_gap``"""

from __future__ import annotations

from datetime import timedelta
from typing import ClassVar

from lakeguard.gate.grammar.literals import Flag, Number, Text, duration
from lakeguard.gate.grammar.rule import ReadRule
from lakeguard.gate.rule_types.rule_type import ParameterSpec, RuleType
from lakeguard.gate.typecheck.checks import RowsJudged, ask
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
    """Rows in an order, in the table as the publish would leave it, group by group."""

    groups = True
    scopes = (Scope.TABLE, Scope.BATCH)

    def rows(self, read: ReadRule, columns: Resolver, measure: AnyMeasure) -> RowsJudged:
        scope = read.rule.scope or Scope.TABLE
        return RowsJudged(ask(measure), ask(RowCount(scope=scope, where=columns.where)))


class NoGaps(SequenceRule):
    name = "gaps"
    summary = (
        "From each value to the next higher one it is at most a step. The rows after a gap fail;"
        " with `by`, each group is a sequence of its own."
    )
    example = "gaps(flight_date, step='1d') by origin"
    nulls = "NULLs are left out."
    takes = "integers with a number as step, dates with days, timestamps with any time"
    parameters = (ParameterSpec("step", "step", "how far apart values may be", required=True),)
    principal = "step"

    def compile(self, read: ReadRule, columns: Resolver) -> RowsJudged:
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


def _step(read: ReadRule, data_type: str) -> int:
    step = read.rule.parameter("step")
    if data_type in INTEGERS:
        if isinstance(step, Number):
            return int(step.value)
        raise read.error("parameter step", f"values of type {data_type} have a number as step")
    if not isinstance(step, Text):
        raise read.error("parameter step", f"values of type {data_type} have a time as step: 1d")
    span = duration(step.value)
    if data_type != "date":
        return span // timedelta(microseconds=1)
    if span % _DAY:
        raise read.error("parameter step", "dates are whole days apart")
    return span // _DAY


class Ordered(SequenceRule):
    """Values along another column."""

    descending: ClassVar[bool]
    nulls = "Rows with a NULL in either column are left out. NaN is above every number."
    takes = "two columns with an order: no boolean, no binary, none nested"
    columns = (2, 2)
    parameters = (
        ParameterSpec("strict", "flag", "whether equal values fail too; false if not given"),
    )

    def compile(self, read: ReadRule, columns: Resolver) -> RowsJudged:
        column, along = columns.every
        for index, one in enumerate(columns.every):
            if one.type in ("boolean", "binary"):
                message = f"{one.name} is {one.type}, which has no order"
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
        "Along the second column no value of the first is below the one before it. Rows at the"
        " same place of the second column may stand in any order."
    )
    example = "increasing(odometer, read_at) by car"
    descending = False


class Decreasing(Ordered):
    name = "decreasing"
    summary = (
        "Along the second column no value of the first is above the one before it. Rows at the"
        " same place of the second column may stand in any order."
    )
    example = "decreasing(stock_left, counted_at, strict=true) by article"
    descending = True


class Intervals(SequenceRule):
    """Intervals from one column to another."""

    fault: ClassVar[IntervalFault]
    nulls = "Rows without a start are left out. An end that is NULL never comes."
    takes = "two columns of one type: integers, dates or timestamps"
    columns = (2, 2)

    def compile(self, read: ReadRule, columns: Resolver) -> RowsJudged:
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
        "No interval starts before an earlier one of its group has ended; the end itself does not"
        " belong to an interval."
    )
    example = "no_overlap(valid_from, valid_to) by customer"
    fault = IntervalFault.OVERLAP


class NoIntervalGap(Intervals):
    name = "no_interval_gap"
    summary = "No interval starts later than all earlier ones of its group have ended."
    example = "no_interval_gap(valid_from, valid_to) by customer"
    fault = IntervalFault.GAP

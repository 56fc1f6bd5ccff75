"""Refuses rules that no data can fail: provable from the types of their columns."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from lakeguard.gate.grammar.literals import number_text
from lakeguard.gate.grammar.rule import (
    ParsedRule,
    Rule,
)
from lakeguard.gate.typecheck.aggregate_bounds import aggregate_interval, measure_interval
from lakeguard.gate.typecheck.checks import (
    HIGHEST_INDEX,
    AgeCheck,
    Bounds,
    Check,
    DistributionCheck,
    FileCheck,
    FormulaCheck,
    GroupCheck,
    MostCommonCheck,
    RowCheck,
    SchemaCheck,
    SetDriftCheck,
    ShareCheck,
    ShareGrowthCheck,
    ValueCheck,
)
from lakeguard.gate.typecheck.constant_conditions import never_true
from lakeguard.gate.typecheck.intervals import Interval, compare_intervals
from lakeguard.gate.typecheck.value_bounds import interval_of
from lakeguard_sdk.expressions.conditions import (
    And,
    ColumnRef,
    Comparison,
    Condition,
    IsNull,
    Not,
)
from lakeguard_sdk.expressions.measures import (
    Aggregate,
    CountIf,
    DistinctCount,
    DistinctValues,
    Distribution,
    DuplicateRows,
    GroupBreach,
    IntervalFaults,
    JsonFaults,
    Measure,
    MostCommonRows,
    OutOfOrder,
    Quantile,
    RowCount,
    SequenceGaps,
    UnmatchedRows,
)

_SHARES = Interval(Decimal(0), Decimal(100))
_COUNTS = Interval(Decimal(0), None)
_SAME = "this is the same whatever the data"


def refuse_idle(read: ParsedRule, check: Check) -> None:
    """Refuses, with the span, a rule that no data can fail or a limit that no data can reach."""
    if isinstance(check, RowCheck):
        _refuse_idle_rows(read, check.failed.measure)
        return
    _refuse_idle_where(read, check)
    if isinstance(check, DistributionCheck | SetDriftCheck):
        _refuse_idle_drift(read, check)
        return
    if isinstance(check, FileCheck | SchemaCheck):
        if check.bounds is not None:
            _refuse_idle_bounds(read, check.bounds, _COUNTS)
        return
    reach = _reach(check)
    if reach is None:
        return
    if not read.rule.by:
        _refuse_idle_thresholds(read, reach)
    if (isinstance(check, ValueCheck) and check.past is None) or isinstance(check, GroupCheck):
        _refuse_idle_bounds(read, check.bounds, reach)


def _refuse_idle_rows(read: ParsedRule, failed: Measure) -> None:
    if isinstance(failed, SequenceGaps):
        low, high = interval_of(failed.column)
        if low is not None and high is not None and failed.step >= high - low:
            message = "this always holds: no two values of the column are further apart"
            raise read.error("parameter step", message)
    if isinstance(failed, CountIf) and never_true(failed.condition):
        raise read.error("type", "this always holds: every value of the column passes")
    if _selects_nothing(failed):
        raise read.error("type", "this always holds: no row that where selects can fail")


def _refuse_idle_drift(read: ParsedRule, check: DistributionCheck | SetDriftCheck) -> None:
    if isinstance(check, DistributionCheck):
        if check.most >= HIGHEST_INDEX:
            message = f"this always holds: the index is below {number_text(HIGHEST_INDEX)}"
            raise read.error("parameter max", message)
        return
    listed = check.values.measure
    if not isinstance(listed, DistinctValues):
        return
    possible = measure_interval(DistinctCount(columns=(listed.column,))).high
    most = min(Decimal(listed.most), possible or Decimal(listed.most))
    given = {"new": check.new, "gone": check.gone}
    limits = {name: limit for name, limit in given.items() if limit is not None}
    if all(limit >= most for limit in limits.values()):
        message = f"this always holds: at most {number_text(most)} values are compared"
        raise read.error(f"parameter {next(iter(limits))}", message)


def _refuse_idle_where(read: ParsedRule, check: Check) -> None:
    """Refuses a ``where`` that leaves no choice of rows to count."""
    match check:
        case MostCommonCheck(share=share):
            _refuse_idle_where(read, share)
        case ShareCheck(part=part) | ShareGrowthCheck(part=part):
            if _selects_nothing(part.measure):
                raise read.error("type", f"{_SAME}: no row that where selects counts")
            if _selects_only_counted(part.measure):
                raise read.error("type", f"{_SAME}: every row that where selects counts")
        case ValueCheck() | AgeCheck() | FormulaCheck() | SetDriftCheck() | DistributionCheck():
            if check.measures and all(_selects_nothing(ref.measure) for ref in check.measures):
                raise read.error("type", f"{_SAME}: no row that where selects counts")


def _selects_only_counted(measure: Measure) -> bool:
    if not isinstance(measure, CountIf) or measure.where is None:
        return False
    return never_true(And(items=(measure.where, Not(item=measure.condition))))


def _selects_nothing(measure: Measure) -> bool:
    """Whether ``where`` selects no row that the measure counts."""
    where = getattr(measure, "where", None)
    if where is None:
        return False
    return never_true(And(items=(where, *_counted(measure))))


def _counted(measure: Measure) -> Iterator[Condition]:
    """Conditions of every counted row. Rows with a NULL key or value do not count."""
    columns: tuple[ColumnRef, ...] = ()
    match measure:
        case CountIf(condition=condition):
            yield condition
        case DuplicateRows() | UnmatchedRows() | DistinctCount() | MostCommonRows():
            columns = measure.columns
        case JsonFaults() | SequenceGaps() | DistinctValues() | Distribution():
            columns = (measure.column,)
        case Aggregate(column=ColumnRef() as column) | Quantile(column=column):
            columns = (column,)
        case OutOfOrder():
            columns = (measure.column, measure.along)
        case IntervalFaults():
            columns = (measure.start,)
    yield from (Not(item=IsNull(of=column)) for column in columns)


def _reach(check: Check) -> Interval | None:
    """The possible values of what the check compares; None if it compares no number."""
    match check:
        case ValueCheck(value=value):
            return measure_interval(value.measure)
        case GroupCheck(failed=failed) if isinstance(failed.measure, GroupBreach):
            rows = isinstance(failed.measure.of, RowCount)  # every group has a row
            return measure_interval(failed.measure.of, 1 if rows else 0)
        case FormulaCheck(formula=formula, measures=measures):
            return aggregate_interval(formula, [ref.measure for ref in measures], 0)
        case ShareCheck():
            return _SHARES
    return None


def _refuse_idle_thresholds(read: ParsedRule, reach: Interval) -> None:
    for clause in ("warn_if", "fail_if"):
        threshold = getattr(read.rule, clause)
        if threshold is None:
            continue
        at = Interval(threshold.number, threshold.number)
        found = compare_intervals(threshold.op, reach, at)
        if found is not None:
            word = "always" if found else "never"
            raise read.error(clause, f"this is {word} true, whatever the data")


def _refuse_idle_bounds(read: ParsedRule, bounds: Bounds, reach: Interval) -> None:
    """Bounds that exclude no value; a missing value would still fail, but not because of them."""
    ends = {Comparison.GE: bounds.low, Comparison.LE: bounds.high}
    given = {op: end for op, end in ends.items() if isinstance(end, Decimal)}
    if given and all(compare_intervals(op, reach, Interval(end, end)) for op, end in given.items()):
        message = "this always holds: every possible value is within the bounds"
        raise read.error(_first_bound(read.rule), message)


def _first_bound(rule: Rule) -> str:
    return "parameter min" if rule.parameter("min") is not None else "parameter max"

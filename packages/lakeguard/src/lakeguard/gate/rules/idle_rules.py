"""Rules that can never fail, whatever the data: provable from the types of their columns."""

from __future__ import annotations

from decimal import Decimal

from lakeguard.gate.grammar.rule import ParsedRule, Rule
from lakeguard.gate.typecheck.checks import (
    Bounds,
    Check,
    FormulaCheck,
    GroupCheck,
    RowCheck,
    ShareCheck,
    ValueCheck,
)
from lakeguard.gate.typecheck.constant_conditions import compare_intervals, never_true
from lakeguard.gate.typecheck.value_bounds import (
    Interval,
    aggregate_interval,
    measure_interval,
)
from lakeguard_sdk.expressions.conditions import And, Comparison
from lakeguard_sdk.expressions.measures import CountIf, GroupBreach, RowCount

_SHARES = Interval(Decimal(0), Decimal(100))


def refuse_idle(read: ParsedRule, check: Check) -> None:
    """Refuses, with the span, a rule that no data can fail or a limit that no data can reach."""
    if isinstance(check, RowCheck):
        _refuse_idle_rows(read, check)
        return
    reach = _reach(check)
    if reach is None:
        return
    if not read.rule.by:
        _refuse_idle_thresholds(read, reach)
    if (isinstance(check, ValueCheck) and check.past is None) or isinstance(check, GroupCheck):
        _refuse_idle_bounds(read, check.bounds, reach)


def _refuse_idle_rows(read: ParsedRule, check: RowCheck) -> None:
    failed = check.failed.measure
    if not isinstance(failed, CountIf):
        return
    if never_true(failed.condition):
        raise read.error("type", "this always holds: every value of the column passes")
    if failed.where is not None and never_true(And(items=(failed.where, failed.condition))):
        raise read.error("type", "this always holds: no row that where selects can fail")


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

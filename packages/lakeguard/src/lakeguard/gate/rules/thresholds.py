"""Validation and evaluation of ``warn_if`` and ``fail_if``."""

from __future__ import annotations

import operator
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from lakeguard.gate.grammar.literals import EXACT, MOST_ROWS
from lakeguard.gate.grammar.rule import ParsedRule, Threshold
from lakeguard.gate.rule_types.rule_type import RuleType
from lakeguard_sdk.expressions.conditions import Comparison

HOLDS: dict[Comparison, Callable[[Any, Any], bool]] = {
    Comparison.EQ: operator.eq,
    Comparison.NE: operator.ne,
    Comparison.LT: operator.lt,
    Comparison.LE: operator.le,
    Comparison.GT: operator.gt,
    Comparison.GE: operator.ge,
}
_UPWARD = (Comparison.GT, Comparison.GE)
_DOWNWARD = (Comparison.LT, Comparison.LE)


def reached(threshold: Threshold, failed: int, scope: int) -> bool:
    """Whether that many failing rows reach the threshold; no rows have no share."""
    if threshold.percent:
        return scope > 0 and _over(threshold, failed, scope)
    return HOLDS[threshold.op](Decimal(failed), threshold.number)


def _over(threshold: Threshold, failed: int, scope: int) -> bool:
    return HOLDS[threshold.op](
        Decimal(100 * failed), EXACT.multiply(threshold.number, Decimal(scope))
    )


def check_thresholds(rule_type: RuleType, read: ParsedRule) -> None:
    """Refuses thresholds that are meaningless, always true or never true."""
    for clause in ("warn_if", "fail_if"):
        threshold: Threshold | None = getattr(read.rule, clause)
        if threshold is None:
            continue
        problem = _PROBLEMS[rule_type.limit_target_of(read.rule)](threshold)
        if problem:
            raise read.error(clause, problem)
    warn, fail = read.rule.warn_if, read.rule.fail_if
    if warn and fail and _covers(fail, warn):
        raise read.error("warn_if", f"warn_if {warn} never applies: fail_if {fail} comes first")


def _of_rows(threshold: Threshold) -> str:
    number = threshold.number
    if threshold.op not in _UPWARD:
        return "limits on failing rows need > or >="
    if number < 0 or (number == 0 and threshold.op is Comparison.GE):
        return "this is true even if no row fails"
    if not threshold.percent and number != number.to_integral_value():
        return "row counts are whole numbers; write a share with %"
    if not threshold.percent and number >= MOST_ROWS:
        return f"this is never true: limits on rows are below {MOST_ROWS:,}; write a share with %"
    if threshold.percent and (number > 100 or (number == 100 and threshold.op is Comparison.GT)):
        return "this is never true: at most 100 % of the rows can fail"
    return ""


def _of_value(threshold: Threshold) -> str:
    return "a value has no percentage: write the number alone" if threshold.percent else ""


def _of_share(threshold: Threshold) -> str:
    return "" if threshold.percent else "a share needs a percentage: write the number with %"


_PROBLEMS = {"rows": _of_rows, "value": _of_value, "share": _of_share}


def _covers(fail: Threshold, warn: Threshold) -> bool:
    """Whether everything that warns has already failed."""
    if fail.percent != warn.percent:
        return False
    if fail.op in _UPWARD and warn.op in _UPWARD:
        return fail.number < warn.number or _same_or_looser(fail, warn, Comparison.GE)
    if fail.op in _DOWNWARD and warn.op in _DOWNWARD:
        return fail.number > warn.number or _same_or_looser(fail, warn, Comparison.LE)
    return fail == warn


def _same_or_looser(fail: Threshold, warn: Threshold, inclusive: Comparison) -> bool:
    return fail.number == warn.number and (fail.op is inclusive or fail.op is warn.op)

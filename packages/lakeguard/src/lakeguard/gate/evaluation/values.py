"""Rules about one value: compared with bounds, thresholds or history."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from lakeguard.gate.evaluation.bands import NoBand, Point, band
from lakeguard.gate.evaluation.context import (
    EvaluationContext,
    Unmeasured,
    broken,
    result,
    where_words,
)
from lakeguard.gate.evaluation.messages import (
    bounds_words,
    counted,
    scalar_words,
    value_limit,
)
from lakeguard.gate.grammar.rule import Rule, Threshold
from lakeguard.gate.rules.thresholds import HOLDS
from lakeguard.gate.typecheck.checks import (
    Bounds,
    Past,
    Scalar,
    ValueCheck,
)
from lakeguard.gate.typecheck.scalars import as_scalar, at_evidence_precision
from lakeguard_sdk.core.enums import Outcome, Severity
from lakeguard_sdk.expressions.conditions import Comparison
from lakeguard_sdk.expressions.measures import RowCount
from lakeguard_sdk.model.decision import CheckResult
from lakeguard_sdk.model.definitions import RuleDefinition
from lakeguard_sdk.types.schema import FLOATS, INTEGERS


def evaluate_value(
    definition: RuleDefinition, rule: Rule, check: ValueCheck, context: EvaluationContext
) -> CheckResult:
    answer = context.answer(check.value)
    value = as_scalar(answer, check.bounds.data_type)
    bounds, detail = check.bounds, ""
    if check.past is not None:
        points = context.earlier(check.value, bounds.data_type)
        bounds, detail = past_bounds(check.past, points, bounds, context)
    outcome, limit = value_outcome(definition.severity, rule, bounds, value)
    message = f"{_value_words(rule, check, value)}{f', limit {limit}' if limit else ''}{detail}"
    return result(definition, outcome, message, observed=answer, limit=limit or None)


def _value_words(rule: Rule, check: ValueCheck, value: Scalar | None) -> str:
    if value is None:
        return f"{check.subject}{where_words(rule)} has no value"
    if isinstance(check.value.measure, RowCount) and isinstance(value, Decimal):
        return counted(value, check.subject) + where_words(rule)
    shown = scalar_words(value, check.bounds.data_type)
    return f"{check.subject}{where_words(rule)} is {shown}"


def past_bounds(
    past: Past, points: list[Point], static: Bounds, context: EvaluationContext
) -> tuple[Bounds, str]:
    """The band from history, or the static bounds, and a text that says which and why."""
    found = band(past, points, context.clock, whole=static.data_type in INTEGERS)
    if isinstance(found, NoBand):
        return static, f" ({found.reason})"
    return replace(static, low=found.low, high=found.high), f" ({found.of})"


def value_outcome(
    severity: Severity, rule: Rule, bounds: Bounds, value: Scalar | None
) -> tuple[Outcome, str]:
    explained = rule.fail_if or rule.warn_if
    if value is None:
        return broken(severity), value_limit(explained) if explained else bounds_words(bounds)
    for threshold, outcome in ((rule.fail_if, Outcome.FAIL), (rule.warn_if, Outcome.WARN)):
        if threshold is not None and _value_reaches(threshold, bounds, value):
            return outcome, value_limit(threshold)
    if explained is not None:
        return Outcome.PASS, value_limit(rule.warn_if or explained)
    return Outcome.PASS if within(value, bounds) else broken(severity), bounds_words(bounds)


def _value_reaches(threshold: Threshold, bounds: Bounds, value: Scalar) -> bool:
    if not isinstance(value, Decimal):
        raise Unmeasured("a time cannot be compared with a number")
    return value.is_nan() or HOLDS[threshold.op](value, _bound(threshold.number, bounds))


def within(value: Scalar, bounds: Bounds) -> bool:
    if isinstance(value, Decimal) and value.is_nan():
        return False
    if bounds.low is not None and HOLDS[Comparison.LT](value, _bound(bounds.low, bounds)):
        return False
    return bounds.high is None or HOLDS[Comparison.LE](value, _bound(bounds.high, bounds))


def _bound(bound: Scalar, bounds: Bounds) -> Scalar:
    if isinstance(bound, Decimal) and bounds.data_type in FLOATS:
        return at_evidence_precision(bound, bounds.data_type, summed=bounds.summed)
    return bound

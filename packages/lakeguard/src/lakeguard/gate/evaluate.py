"""One compiled rule against evidence: what it comes to, and the sentence that says so."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal

from lakeguard.gate.judgement import Asked, Bounds, RowsJudged, Scalar, ValueJudged
from lakeguard.gate.literals import EXACT
from lakeguard.gate.rule import Rule, Threshold
from lakeguard.gate.rules import CompiledRule
from lakeguard.gate.scalars import as_count, as_scalar, at_evidence_precision
from lakeguard.gate.thresholds import HOLDS, reached
from lakeguard.gate.where_tree import where_text
from lakeguard.gate.wording import (
    bounds_words,
    counted,
    rows_limit,
    scalar_words,
    share_words,
    value_limit,
)
from lakeguard_sdk.decision import CheckResult
from lakeguard_sdk.definition import RuleDefinition
from lakeguard_sdk.evidence import Evidence
from lakeguard_sdk.expression import Comparison
from lakeguard_sdk.measure import MeasureValue, RowCount
from lakeguard_sdk.schema import FLOATS
from lakeguard_sdk.words import CheckKind, Outcome, Scope, Severity


class Unmeasured(Exception):
    """A measure that the rule needs is not there, or contradicts another."""


def evaluate(definition: RuleDefinition, compiled: CompiledRule, evidence: Evidence) -> CheckResult:
    """The rule's result; Unmeasured or NotAValue where the evidence does not carry one."""
    answers = [_answer(asked, evidence) for asked in compiled.judgement.asked]
    if isinstance(compiled.judgement, RowsJudged):
        return _rows(definition, compiled.rule, compiled.judgement, answers)
    return _value(definition, compiled.rule, compiled.judgement, answers[0])


def _answer(asked: Asked, evidence: Evidence) -> MeasureValue:
    if asked.key in evidence.unmeasured:
        raise Unmeasured(f"not measured: {evidence.unmeasured[asked.key]}")
    if asked.key not in evidence.measures:
        raise Unmeasured(f"not measured: the evidence has no {asked.key}")
    return evidence.measures[asked.key]


def _rows(
    definition: RuleDefinition, rule: Rule, judged: RowsJudged, answers: list[MeasureValue]
) -> CheckResult:
    failed, scope = as_count(answers[0]), as_count(answers[1])
    if failed > scope:
        raise Unmeasured(f"{failed:,} failing rows of {scope:,} rows cannot be")
    outcome, limit = _rows_outcome(definition.severity, rule, failed, scope)
    extreme = _worst(judged, answers)
    worst = extreme if failed else None
    rows = _rows_words(rule, judged)
    message = _rows_message(failed, scope, rows, limit)
    if worst is not None and judged.bounds is not None:
        message += f", worst {scalar_words(worst[0], judged.bounds.data_type)}"
    allowed = rows_limit(limit)
    if failed:
        message += f", limit {allowed}" if limit else ", none allowed"
    return CheckResult(
        kind=CheckKind.RULE,
        check_id=definition.rule_id,
        expression=definition.expression,
        outcome=outcome,
        message=message,
        failed_rows=failed,
        scope_rows=scope,
        observed=None if worst is None else worst[1],
        limit=allowed,
    )


def _rows_outcome(
    severity: Severity, rule: Rule, failed: int, scope: int
) -> tuple[Outcome, Threshold | None]:
    """The outcome, and the threshold that it is to be explained by."""
    if rule.fail_if is not None and reached(rule.fail_if, failed, scope):
        return Outcome.FAIL, rule.fail_if
    if rule.warn_if is not None and reached(rule.warn_if, failed, scope):
        return Outcome.WARN, rule.warn_if
    if rule.fail_if is not None or rule.warn_if is not None:
        return Outcome.PASS, rule.warn_if or rule.fail_if
    if failed == 0:
        return Outcome.PASS, None
    return (Outcome.FAIL if severity is Severity.FAIL else Outcome.WARN), None


def _rows_words(rule: Rule, judged: RowsJudged) -> str:
    measure = judged.scope.measure
    in_table = isinstance(measure, RowCount) and measure.scope is Scope.TABLE
    rows = "rows of the table" if in_table else "new rows"
    return rows if rule.where is None else f"{rows} where {where_text(rule.where)}"


def _rows_message(failed: int, scope: int, rows: str, limit: Threshold | None) -> str:
    if scope == 0:
        return f"no {rows}"
    if failed == 0:
        return f"0 of {scope:,} {rows}"
    return f"{failed:,} of {scope:,} {rows} ({share_words(failed, scope, limit)})"


def _worst(judged: RowsJudged, answers: list[MeasureValue]) -> tuple[Scalar, MeasureValue] | None:
    """Of the least and the greatest value the one that is farther beyond its bound."""
    if judged.extremes is None or judged.bounds is None:
        return None
    bounds = judged.bounds
    found: list[tuple[Decimal, Scalar, MeasureValue]] = []
    ends = ((answers[2], bounds.low, -1), (answers[3], bounds.high, 1))
    for answer, bound, outward in ends:
        value = as_scalar(answer, bounds.data_type)
        if isinstance(value, Decimal) and value.is_nan():
            return value, answer
        if value is not None and bound is not None:
            beyond = EXACT.multiply(_distance(value, bound), outward)
            found.append((beyond, value, answer))
    beyond, value, answer = max(found, key=lambda item: item[0], default=(Decimal(0), None, None))
    return (value, answer) if value is not None and beyond > 0 else None


def _distance(value: Scalar, bound: Scalar) -> Decimal:
    if isinstance(value, Decimal) and isinstance(bound, Decimal):
        return EXACT.subtract(value, bound)
    if isinstance(value, datetime) and isinstance(bound, datetime):
        return Decimal((value - bound) // timedelta(microseconds=1))
    if isinstance(value, date) and isinstance(bound, date):
        return Decimal(value.toordinal() - bound.toordinal())
    raise Unmeasured("the extremes are of another type than the bounds")


def _value(
    definition: RuleDefinition, rule: Rule, judged: ValueJudged, answer: MeasureValue
) -> CheckResult:
    bounds = judged.bounds
    value = as_scalar(answer, bounds.data_type)
    outcome, limit = _value_outcome(definition.severity, rule, bounds, value)
    if value is None:
        message = f"no value to judge: {judged.subject}{_where_words(rule)} is empty"
    elif isinstance(judged.value.measure, RowCount) and isinstance(value, Decimal):
        message = counted(value, judged.subject) + _where_words(rule)
    else:
        shown = scalar_words(value, bounds.data_type)
        message = f"{judged.subject}{_where_words(rule)} is {shown}"
    return CheckResult(
        kind=CheckKind.RULE,
        check_id=definition.rule_id,
        expression=definition.expression,
        outcome=outcome,
        message=f"{message}, limit {limit}",
        observed=answer,
        limit=limit,
    )


def _where_words(rule: Rule) -> str:
    return "" if rule.where is None else f" where {where_text(rule.where)}"


def _value_outcome(
    severity: Severity, rule: Rule, bounds: Bounds, value: Scalar | None
) -> tuple[Outcome, str]:
    broken = Outcome.FAIL if severity is Severity.FAIL else Outcome.WARN
    explained = rule.fail_if or rule.warn_if
    if value is None:
        return broken, value_limit(explained) if explained else bounds_words(bounds)
    for threshold, outcome in ((rule.fail_if, Outcome.FAIL), (rule.warn_if, Outcome.WARN)):
        if threshold is not None and _value_reaches(threshold, bounds, value):
            return outcome, value_limit(threshold)
    if explained is not None:
        return Outcome.PASS, value_limit(rule.warn_if or explained)
    return Outcome.PASS if _within(value, bounds) else broken, bounds_words(bounds)


def _value_reaches(threshold: Threshold, bounds: Bounds, value: Scalar) -> bool:
    if not isinstance(value, Decimal):
        raise Unmeasured("a time is not held against a number")
    return value.is_nan() or HOLDS[threshold.op](value, _bound(threshold.number, bounds))


def _within(value: Scalar, bounds: Bounds) -> bool:
    if isinstance(value, Decimal) and value.is_nan():
        return False
    if bounds.low is not None and HOLDS[Comparison.LT](value, _bound(bounds.low, bounds)):
        return False
    return bounds.high is None or HOLDS[Comparison.LE](value, _bound(bounds.high, bounds))


def _bound(bound: Scalar, bounds: Bounds) -> Scalar:
    if isinstance(bound, Decimal) and bounds.data_type in FLOATS:
        return at_evidence_precision(bound, bounds.data_type, summed=bounds.summed)
    return bound

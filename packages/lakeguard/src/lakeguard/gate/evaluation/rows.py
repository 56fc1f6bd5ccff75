"""Rules that count failing rows."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal

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
    rows_limit,
    scalar_words,
    share_words,
)
from lakeguard.gate.grammar.literals import EXACT
from lakeguard.gate.grammar.rule import Rule, Threshold
from lakeguard.gate.rules.thresholds import reached
from lakeguard.gate.typecheck.checks import Check, GroupCheck, RowCheck, Scalar
from lakeguard.gate.typecheck.scalars import as_count, as_scalar
from lakeguard_sdk.core.enums import Outcome, Scope, Severity
from lakeguard_sdk.expressions.measures import ComparedRows, MeasureValue, RowCount
from lakeguard_sdk.model.decision import CheckResult
from lakeguard_sdk.model.definitions import RuleDefinition


def evaluate_rows(
    definition: RuleDefinition, rule: Rule, check: RowCheck, context: EvaluationContext
) -> CheckResult:
    answers = [context.answer(ref) for ref in check.measures]
    failed, scope = counts_of(answers)
    extreme = _worst(check, answers)
    worst = extreme if failed else None
    detail = ""
    if worst is not None and check.bounds is not None:
        detail = f", worst {scalar_words(worst[0], check.bounds.data_type)}"
    observed = None if worst is None else worst[1]
    return _rows_result(definition, rule, check, (failed, scope), detail, observed)


def evaluate_groups(
    definition: RuleDefinition, rule: Rule, check: GroupCheck, context: EvaluationContext
) -> CheckResult:
    """Rows of failing groups; the message names the number of groups and the worst value."""
    answers = [context.answer(ref) for ref in check.measures]
    counts, groups, worst = counts_of(answers), as_count(answers[2]), answers[3]
    if bool(groups) != bool(counts[0]):
        raise Unmeasured(f"{counts[0]:,} failing rows in {groups:,} groups is impossible")
    detail = ""
    if groups:
        value = as_scalar(worst, check.bounds.data_type)
        shown = "none" if value is None else scalar_words(value, check.bounds.data_type)
        detail = (
            f" in {counted(groups, 'group')} by {', '.join(rule.by)}: {check.subject}"
            f" must be {bounds_words(check.bounds)}, worst {shown}"
        )
    return _rows_result(definition, rule, check, counts, detail, worst if groups else None)


def counts_of(answers: list[MeasureValue]) -> tuple[int, int]:
    failed, scope = as_count(answers[0]), as_count(answers[1])
    if failed > scope:
        raise Unmeasured(f"{failed:,} failing rows of {scope:,} rows is impossible")
    return failed, scope


def _rows_result(
    definition: RuleDefinition,
    rule: Rule,
    check: RowCheck | GroupCheck,
    counts: tuple[int, int],
    detail: str,
    observed: MeasureValue,
) -> CheckResult:
    failed, scope = counts
    outcome, limit = _rows_outcome(definition.severity, rule, failed, scope)
    message = rows_message(failed, scope, rows_words(rule, check), limit) + detail
    allowed = rows_limit(limit)
    if failed:
        message += f", limit {allowed}" if limit else ", none allowed"
    return result(
        definition,
        outcome,
        message,
        failed_rows=failed,
        scope_rows=scope,
        observed=observed,
        limit=allowed,
    )


def _rows_outcome(
    severity: Severity, rule: Rule, failed: int, scope: int
) -> tuple[Outcome, Threshold | None]:
    """The outcome and the threshold that explains it."""
    if rule.fail_if is not None and reached(rule.fail_if, failed, scope):
        return Outcome.FAIL, rule.fail_if
    if rule.warn_if is not None and reached(rule.warn_if, failed, scope):
        return Outcome.WARN, rule.warn_if
    if rule.fail_if is not None or rule.warn_if is not None:
        return Outcome.PASS, rule.warn_if or rule.fail_if
    if failed == 0:
        return Outcome.PASS, None
    return broken(severity), None


def rows_words(rule: Rule, check: RowCheck | GroupCheck) -> str:
    measure = check.scope.measure
    if isinstance(measure, ComparedRows):
        return "rows of both datasets"
    in_table = isinstance(measure, RowCount) and measure.scope is Scope.TABLE
    rows = "rows of the table" if in_table else "new rows"
    return rows + where_words(rule)


def rows_message(failed: int, scope: int, rows: str, limit: Threshold | None) -> str:
    if scope == 0:
        return f"no {rows}"
    if failed == 0:
        return f"0 of {scope:,} {rows}"
    return f"{failed:,} of {scope:,} {rows} ({share_words(failed, scope, limit)})"


def _worst(check: RowCheck, answers: list[MeasureValue]) -> tuple[Scalar, MeasureValue] | None:
    """The extreme value that is farther beyond its bound."""
    if check.extremes is None or check.bounds is None:
        return None
    bounds = check.bounds
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
    raise Unmeasured("the extremes and the bounds have different types")


# Rules that quarantine rows: count the failing rows of the batch and check that none remain.


def evaluate_quarantine(
    definition: RuleDefinition, rule: Rule, check: Check, context: EvaluationContext
) -> CheckResult:
    """FAIL where a failing row remains or more failed than ``fail_if`` allows.

    Limits apply to the batch including its quarantined rows.
    """
    if not isinstance(check, RowCheck):
        raise Unmeasured("the rule does not identify single rows, so none can be quarantined")
    rows = rows_words(rule, check)
    left, whole = counts_of([context.answer(check.failed), context.answer(check.scope)])
    if left:
        message = f"{left:,} of {whole:,} {rows} fail and were not quarantined"
        return result(definition, Outcome.FAIL, message, failed_rows=left, scope_rows=whole)
    failed, scope, filed = _before(definition.rule_id, check, context)
    outcome, limit = _outcome(rule, failed, scope)
    message = rows_message(failed, scope, rows, limit)
    if failed:
        message += _became(check, failed, filed)
    allowed = None if limit is None else rows_limit(limit)
    if failed and limit is not None:
        message += f", limit {allowed}"
    return result(definition, outcome, message, failed_rows=failed, scope_rows=scope, limit=allowed)


def _before(rule_id: str, check: RowCheck, context: EvaluationContext) -> tuple[int, int, int]:
    """Failing rows and all rows, including quarantined ones, and the rows filed for the rule."""
    answer = context.answer_before
    failed, scope = counts_of([answer(check.failed), answer(check.scope)])
    quarantined = context.evidence.quarantined
    filed = (
        sum(file.rows for file in quarantined.files if file.rule_id == rule_id)
        if quarantined
        else 0
    )
    if filed > failed:
        raise Unmeasured(f"{filed:,} rows are quarantined for it, but {failed:,} failed")
    return failed, scope, filed


def _outcome(rule: Rule, failed: int, scope: int) -> tuple[Outcome, Threshold | None]:
    """The outcome and the threshold that explains it."""
    if rule.fail_if is not None and reached(rule.fail_if, failed, scope):
        return Outcome.FAIL, rule.fail_if
    if rule.warn_if is None:
        return (Outcome.WARN if failed else Outcome.PASS), rule.fail_if
    warned = reached(rule.warn_if, failed, scope)
    return (Outcome.WARN if warned else Outcome.PASS), rule.warn_if


def _became(check: RowCheck, failed: int, filed: int) -> str:
    """For a duplicate of a published key, only the new rows are quarantined, possibly by another
    rule."""
    measure = check.scope.measure
    if not isinstance(measure, RowCount) or measure.scope is not Scope.TABLE:
        return " quarantined"
    new = (
        f"{counted(filed, 'new row')} quarantined"
        if filed
        else "the new ones were quarantined by other rules"
    )
    return f" {'fails' if failed == 1 else 'fail'}; {new}, none remain"

"""Rules about shares, ages, sets of values and files."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

from lakeguard.gate.evaluation.bands import Point
from lakeguard.gate.evaluation.context import (
    EvaluationContext,
    Unmeasured,
    broken,
    result,
    where_words,
)
from lakeguard.gate.evaluation.messages import counted, share_words
from lakeguard.gate.evaluation.values import past_bounds, value_outcome
from lakeguard.gate.grammar.literals import EXACT, duration_words
from lakeguard.gate.grammar.rule import Rule, Threshold
from lakeguard.gate.typecheck.checks import (
    AgeCheck,
    Bounds,
    FileCheck,
    MeasureRef,
    MostCommonCheck,
    SchemaCheck,
    SetDriftCheck,
    ShareCheck,
)
from lakeguard.gate.typecheck.scalars import as_count, as_scalar
from lakeguard_sdk.core.enums import Outcome
from lakeguard_sdk.expressions.conditions import Comparison
from lakeguard_sdk.expressions.measures import MeasureValue
from lakeguard_sdk.model.decision import CheckResult
from lakeguard_sdk.model.definitions import RuleDefinition


def evaluate_share(
    definition: RuleDefinition, rule: Rule, check: ShareCheck, context: EvaluationContext
) -> CheckResult:
    counts = _counts(check, context.answer(check.part), context.answer(check.whole))
    subject = f"{check.subject}{where_words(rule)}"
    share = _share(counts)
    if share is None:
        return result(definition, Outcome.PASS, f"{subject}: no rows")
    bounds, detail = check.bounds, ""
    if check.past is not None:
        bounds, detail = past_bounds(check.past, _earlier(check, context), bounds, context)
    outcome, limit = value_outcome(definition.severity, rule, bounds, share)
    shown = share_words(*counts, rule.fail_if or rule.warn_if or _threshold(bounds))
    message = f"{subject} is {shown}{f', limit {limit} %' if limit else ''}{detail}"
    observed = float(f"{share:.12g}")
    return result(definition, outcome, message, observed=observed, limit=limit and f"{limit} %")


def _counts(check: ShareCheck, part: MeasureValue, whole: MeasureValue) -> tuple[int, int]:
    some, all_of_it = as_count(part), as_count(whole)
    if some > all_of_it:
        raise Unmeasured(f"{some:,} of {all_of_it:,} is impossible")
    return (all_of_it - some if check.rest else some), all_of_it


def _share(counts: tuple[int, int]) -> Decimal | None:
    """In per cent; None for no rows."""
    if counts[1] == 0:
        return None
    return EXACT.divide(Decimal(100 * counts[0]), Decimal(counts[1]))


def _threshold(bounds: Bounds) -> Threshold | None:
    """The bound that rounding must not move the share across."""
    if isinstance(bounds.low, Decimal):
        return Threshold(op=Comparison.LT, number=bounds.low, percent=True)
    if isinstance(bounds.high, Decimal):
        return Threshold(op=Comparison.GT, number=bounds.high, percent=True)
    return None


def _earlier(check: ShareCheck, context: EvaluationContext) -> list[Point]:
    found = []
    for version in context.history.versions:
        answers = [version.values.get(ref.key) for ref in check.measures]
        if None not in answers:
            share = _share(_counts(check, answers[0], answers[1]))
            if share is not None:
                found.append(Point(share, version.at))
    return found


def evaluate_age(
    definition: RuleDefinition, rule: Rule, check: AgeCheck, context: EvaluationContext
) -> CheckResult:
    """Age of the newest or oldest value at decision time; a date starts at midnight UTC.

    A newest value in the future makes the age meaningless, so the rule fails.
    """
    answer = context.answer(check.newest)
    newest = as_scalar(answer, check.data_type)
    most = check.most
    limit = "not in the future" if most is None else f"at most {duration_words(most)}"
    subject = f"{check.subject}{where_words(rule)}"
    if newest is None:
        message = f"{subject} has no value, limit {limit}"
        return result(definition, broken(definition.severity), message, limit=limit)
    age = context.clock - _moment(newest)
    early = age < timedelta(0) and check.which == "newest"
    words = f"{duration_words(age)} old" if age >= timedelta(0) else "in the future"
    if early and most is not None:
        words += "; cannot check freshness"
    holds = not early and (most is None or age <= most)
    outcome = Outcome.PASS if holds else broken(definition.severity)
    message = f"{check.which} {subject} is {words}, limit {limit}"
    return result(definition, outcome, message, observed=answer, limit=limit)


def _moment(value: object) -> datetime:
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime.combine(value, time(), UTC)
    raise Unmeasured("the newest value is not a time")


def evaluate_set_drift(
    definition: RuleDefinition, rule: Rule, check: SetDriftCheck, context: EvaluationContext
) -> CheckResult:
    now = _digests(context.answer(check.values))
    before = _before(check.values, context)
    subject = f"{check.subject}{where_words(rule)}"
    limits = (("new", check.new), ("gone", check.gone))
    limit = " and ".join(f"{most:,} {word}" for word, most in limits if most is not None)
    if before is None:
        message = f"{counted(len(now), 'value')} of {subject}, no earlier version to compare with"
        return result(definition, Outcome.PASS, message, limit=limit)
    new, gone = len(now - before), len(before - now)
    holds = _fits(new, check.new) and _fits(gone, check.gone)
    message = f"{subject}: {counted(new, 'new value')}, {gone:,} gone, limit {limit}"
    outcome = Outcome.PASS if holds else broken(definition.severity)
    return result(definition, outcome, message, observed=new, limit=limit)


def _before(ref: MeasureRef, context: EvaluationContext) -> frozenset[str] | None:
    for version in context.history.versions:
        if version.values.get(ref.key) is not None:
            return _digests(version.values[ref.key])
    return None


def _digests(value: MeasureValue) -> frozenset[str]:
    if not isinstance(value, str):
        raise Unmeasured(f"{value!r:.60} is not a set of values")
    return frozenset(value.split(",")) if value else frozenset()


def _fits(count: int, most: int | None) -> bool:
    return most is None or count <= most


def evaluate_files(
    definition: RuleDefinition, rule: Rule, check: FileCheck, context: EvaluationContext
) -> CheckResult:
    files = context.evidence.files
    if check.partition is None:
        number = Decimal(len(files))
        outcome, limit = value_outcome(definition.severity, rule, check.bounds, number)
        message = f"{counted(number, 'new file')}, limit {limit}"
        return result(definition, outcome, message, observed=len(files), limit=limit)
    column, value = check.partition
    if any(column not in file.partition for file in files):
        raise Unmeasured(f"{column} is not a partition column")
    found = sum(1 for file in files if file.partition[column] == value)
    outcome = Outcome.PASS if found else broken(definition.severity)
    message = f"{counted(found, 'new file')} where {column} is {value!r}"
    return result(definition, outcome, message, observed=found, limit="at least 1")


def evaluate_schema(definition: RuleDefinition, check: SchemaCheck) -> CheckResult:
    outcome = Outcome.PASS if check.holds else broken(definition.severity)
    return result(definition, outcome, check.found)


# Rules about the most common value.


def evaluate_most_common(
    definition: RuleDefinition, rule: Rule, check: MostCommonCheck, context: EvaluationContext
) -> CheckResult:
    """Check that the most common value is the required one, then its share.

    The observed value is a share: of the most common value, or of the required one.
    """
    most, rows, held = (as_count(context.answer(ref)) for ref in check.measures)
    if held > most:
        raise Unmeasured(
            f"{held:,} rows with the required value, but {most:,} with the most common"
        )
    limit = f"{check.value!r:.60}"
    if rows and held < most:
        message = (
            f"{held:,} of {rows:,} rows{where_words(rule)} have {limit}, but {most:,} have a "
            "more common value"
        )
        failed, share = broken(definition.severity), _most_common_share(held, rows)
        return result(definition, failed, message, observed=share, limit=limit)
    limits = (rule.warn_if, rule.fail_if, check.share.past)
    if any(limits) or _bounded(check.share.bounds):
        return evaluate_share(definition, rule, check.share, context)
    message = f"{held:,} of {rows:,} rows{where_words(rule)} have {limit}, the most common value"
    return result(
        definition, Outcome.PASS, message, observed=_most_common_share(held, rows), limit=limit
    )


def _bounded(bounds: Bounds) -> bool:
    return bounds.low is not None or bounds.high is not None


def _most_common_share(held: int, rows: int) -> float | None:
    """In per cent; None for no rows."""
    return float(f"{EXACT.divide(Decimal(100 * held), Decimal(rows)):.12g}") if rows else None

"""Evaluate one compiled rule on evidence: the outcome and its message."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from lakeguard.gate.evaluation.context import (
    EvaluationContext,
    Unmeasured,
    result,
    where_words,
)
from lakeguard.gate.evaluation.drift import evaluate_distribution, evaluate_share_growth
from lakeguard.gate.evaluation.messages import scalar_words
from lakeguard.gate.evaluation.rows import evaluate_groups, evaluate_quarantine, evaluate_rows
from lakeguard.gate.evaluation.shares import (
    evaluate_age,
    evaluate_files,
    evaluate_most_common,
    evaluate_schema,
    evaluate_set_drift,
    evaluate_share,
)
from lakeguard.gate.evaluation.values import evaluate_value, value_outcome
from lakeguard.gate.grammar.literals import EXACT
from lakeguard.gate.grammar.rule import Rule
from lakeguard.gate.rules.compile import CompiledRule
from lakeguard.gate.typecheck.checks import (
    AgeCheck,
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
from lakeguard.gate.typecheck.scalars import NAN, as_scalar
from lakeguard_sdk.core.enums import Outcome
from lakeguard_sdk.expressions.aggregates import NoNumber, standing
from lakeguard_sdk.expressions.measures import MeasureValue
from lakeguard_sdk.model.decision import CheckResult
from lakeguard_sdk.model.definitions import RuleDefinition
from lakeguard_sdk.types.schema import FLOATS

__all__ = ["EvaluationContext", "Unmeasured", "evaluate"]

NOT_QUARANTINED = "on_fail quarantine blocks: the rows were not quarantined"


def evaluate(
    definition: RuleDefinition, compiled: CompiledRule, context: EvaluationContext
) -> CheckResult:
    """The rule's result; raises Unmeasured or NotAValue where the evidence cannot answer it."""
    if definition.rule_id in context.quarantine_rule_ids and compiled.rule.on_fail == "quarantine":
        return evaluate_quarantine(definition, compiled.rule, compiled.check, context)
    found = _judged(definition, compiled, context)
    if compiled.rule.on_fail == "quarantine" and found.outcome is Outcome.FAIL:
        return found.model_copy(update={"message": f"{found.message}; {NOT_QUARANTINED}"})
    return found


def _judged(
    definition: RuleDefinition, compiled: CompiledRule, context: EvaluationContext
) -> CheckResult:
    rule, check = compiled.rule, compiled.check
    match check:
        case RowCheck():
            return evaluate_rows(definition, rule, check, context)
        case GroupCheck():
            return evaluate_groups(definition, rule, check, context)
        case FormulaCheck():
            return evaluate_formula(definition, rule, check, context)
        case ValueCheck():
            return evaluate_value(definition, rule, check, context)
        case ShareCheck():
            return evaluate_share(definition, rule, check, context)
        case MostCommonCheck():
            return evaluate_most_common(definition, rule, check, context)
        case AgeCheck():
            return evaluate_age(definition, rule, check, context)
        case SetDriftCheck():
            return evaluate_set_drift(definition, rule, check, context)
        case DistributionCheck():
            return evaluate_distribution(definition, rule, check, context)
        case ShareGrowthCheck():
            return evaluate_share_growth(definition, rule, check, context)
        case FileCheck():
            return evaluate_files(definition, rule, check, context)
        case SchemaCheck():
            return evaluate_schema(definition, check)


# Rules about a value computed from several measures.

_SIGNIFICANT = 12


def evaluate_formula(
    definition: RuleDefinition, rule: Rule, check: FormulaCheck, context: EvaluationContext
) -> CheckResult:
    """Computed exactly; rounded to evidence precision where it involves doubles or does not
    terminate."""
    value = _value(check, context)
    outcome, limit = value_outcome(definition.severity, rule, check.bounds, value)
    subject = f"{check.subject}{where_words(rule)}"
    if value is None:
        message = f"{subject} has no value"
    else:
        message = f"{subject} is {scalar_words(value, check.bounds.data_type)}"
    observed = _observed(value, check.bounds.data_type)
    return result(definition, outcome, f"{message}, limit {limit}", observed=observed, limit=limit)


def _value(check: FormulaCheck, context: EvaluationContext) -> Decimal | None:
    # evidence spells numbers like doubles: digits, or NaN and infinity as words
    found = [as_scalar(context.answer(ref), "double") for ref in check.measures]
    numbers = [value if isinstance(value, Decimal) else None for value in found]
    try:
        place = standing(check.formula, numbers)
    except NoNumber:
        return NAN
    if place is None:
        return None
    exact = place[1]
    return _held(exact, check.bounds.data_type) if isinstance(exact, Fraction) else NAN


def _held(exact: Fraction, data_type: str) -> Decimal:
    if data_type not in FLOATS:
        return EXACT.divide(Decimal(exact.numerator), Decimal(exact.denominator))
    try:
        return Decimal(repr(float(f"{float(exact):.{_SIGNIFICANT}g}")))
    except OverflowError:
        raise Unmeasured("the value exceeds the range of double") from None


def _observed(value: Decimal | None, data_type: str) -> MeasureValue:
    if value is None:
        return None
    if value.is_nan():
        return "NaN"
    return float(value) if data_type in FLOATS else format(value, "f")

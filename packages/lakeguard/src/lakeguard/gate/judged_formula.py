"""Rules about a value that is reckoned out of several."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from lakeguard.gate.grounds import Grounds, Unmeasured, result, where_words
from lakeguard.gate.judged_values import value_outcome
from lakeguard.gate.judgement import FormulaJudged
from lakeguard.gate.literals import EXACT
from lakeguard.gate.rule import Rule
from lakeguard.gate.scalars import NAN, as_scalar
from lakeguard.gate.wording import scalar_words
from lakeguard_sdk.decision import CheckResult
from lakeguard_sdk.definition import RuleDefinition
from lakeguard_sdk.measure import MeasureValue
from lakeguard_sdk.schema import FLOATS
from lakeguard_sdk.total_value import NoNumber, standing

_SIGNIFICANT = 12


def judge_formula(
    definition: RuleDefinition, rule: Rule, judged: FormulaJudged, grounds: Grounds
) -> CheckResult:
    """Reckoned exactly out of what evidence holds; as evidence would hold it where it has no
    end, or comes of doubles."""
    value = _value(judged, grounds)
    outcome, limit = value_outcome(definition.severity, rule, judged.bounds, value)
    subject = f"{judged.subject}{where_words(rule)}"
    if value is None:
        message = f"no value to judge: {subject} is empty"
    else:
        message = f"{subject} is {scalar_words(value, judged.bounds.data_type)}"
    observed = _told(value, judged.bounds.data_type)
    return result(definition, outcome, f"{message}, limit {limit}", observed=observed, limit=limit)


def _value(judged: FormulaJudged, grounds: Grounds) -> Decimal | None:
    # every value of evidence reads as a double's does: a number, or NaN and infinity in words
    found = [as_scalar(grounds.answer(asked), "double") for asked in judged.asked]
    numbers = [value if isinstance(value, Decimal) else None for value in found]
    try:
        place = standing(judged.formula, numbers)
    except NoNumber:
        return NAN
    if place is None:
        return None
    exact = place[1]
    return _held(exact, judged.bounds.data_type) if isinstance(exact, Fraction) else NAN


def _held(exact: Fraction, data_type: str) -> Decimal:
    if data_type not in FLOATS:
        return EXACT.divide(Decimal(exact.numerator), Decimal(exact.denominator))
    try:
        return Decimal(repr(float(f"{float(exact):.{_SIGNIFICANT}g}")))
    except OverflowError:
        raise Unmeasured("the value is beyond what a double can hold") from None


def _told(value: Decimal | None, data_type: str) -> MeasureValue:
    if value is None:
        return None
    if value.is_nan():
        return "NaN"
    return float(value) if data_type in FLOATS else format(value, "f")

"""Rules that compare with the last published version that has rows."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal

from lakeguard.gate.evaluation.case import EarlierVersion
from lakeguard.gate.evaluation.context import (
    EvaluationContext,
    Unmeasured,
    broken,
    result,
    where_words,
)
from lakeguard.gate.evaluation.messages import counted
from lakeguard.gate.evaluation.stability import Spread, read_spread, stability
from lakeguard.gate.grammar.literals import EXACT, number_text
from lakeguard.gate.grammar.rule import Rule
from lakeguard.gate.typecheck.checks import DistributionCheck, ShareGrowthCheck, history_depth
from lakeguard.gate.typecheck.scalars import as_count
from lakeguard_sdk.core.enums import Outcome
from lakeguard_sdk.expressions.measures import MeasureValue
from lakeguard_sdk.model.decision import CheckResult
from lakeguard_sdk.model.definitions import RuleDefinition

_FIRST = "nothing to compare with"
_SHOWN = Decimal("0.0001")
_EVIDENCE_PRECISION = Context(prec=12)


def evaluate_distribution(
    definition: RuleDefinition, rule: Rule, check: DistributionCheck, context: EvaluationContext
) -> CheckResult:
    now = read_spread(context.answer(check.spread), check.data_type)
    before = _spread_before(check, context)
    subject = f"values of {check.subject}{where_words(rule)}"
    limit = f"at most {number_text(check.most)}"
    found = None if before is None else stability(before, now)
    if found is None:
        message = f"{counted(now.rows, 'row')} with {subject}: {_FIRST}"
        return result(definition, Outcome.PASS, message, limit=limit)
    message = f"the distribution of {subject} changed by {_shown(found)} (PSI), limit {limit}"
    outcome = Outcome.PASS if found <= check.most else broken(definition.severity)
    return result(definition, outcome, message, observed=_observed(found), limit=limit)


def _spread_before(check: DistributionCheck, context: EvaluationContext) -> Spread | None:
    """The distribution in the most recent version within reach that has values."""
    for version in _within_reach(check, context):
        value = version.values.get(check.spread.key)
        found = None if value is None else read_spread(value, check.data_type)
        if found is not None and found.rows:
            return found
    return None


def _within_reach(
    check: DistributionCheck | ShareGrowthCheck, context: EvaluationContext
) -> Sequence[EarlierVersion]:
    """Limited to the rule's own lookback, even if other rules load more history."""
    return context.history.versions[: history_depth(check)]


def evaluate_share_growth(
    definition: RuleDefinition, rule: Rule, check: ShareGrowthCheck, context: EvaluationContext
) -> CheckResult:
    now = _share(context.answer(check.part), context.answer(check.whole))
    before = _share_before(check, context)
    subject = f"{check.subject}{where_words(rule)}"
    limit = f"at most {number_text(check.most)} points more"
    if now is None or before is None:
        message = f"{subject}: {'no rows' if now is None else _FIRST}"
        return result(definition, Outcome.PASS, message, limit=limit)
    grown = EXACT.subtract(now, before)
    message = f"{subject} went from {_per_cent(before)} to {_per_cent(now)}, limit {limit}"
    outcome = Outcome.PASS if grown <= check.most else broken(definition.severity)
    return result(definition, outcome, message, observed=_observed(grown), limit=limit)


def _share_before(check: ShareGrowthCheck, context: EvaluationContext) -> Decimal | None:
    """The share in the most recent version within reach that has rows."""
    for version in _within_reach(check, context):
        part, whole = (version.values.get(ref.key) for ref in check.measures)
        share = None if part is None or whole is None else _share(part, whole)
        if share is not None:
            return share
    return None


def _share(part: MeasureValue, whole: MeasureValue) -> Decimal | None:
    """In per cent; None for no rows."""
    some, all_of_it = as_count(part), as_count(whole)
    if some > all_of_it:
        raise Unmeasured(f"{some:,} of {all_of_it:,} is impossible")
    return EXACT.divide(Decimal(100 * some), Decimal(all_of_it)) if all_of_it else None


def _per_cent(share: Decimal) -> str:
    return f"{_shown(share)} %"


def _shown(number: Decimal) -> str:
    return number_text(number.quantize(_SHOWN, context=EXACT))


def _observed(value: Decimal) -> float:
    return float(_EVIDENCE_PRECISION.plus(value))

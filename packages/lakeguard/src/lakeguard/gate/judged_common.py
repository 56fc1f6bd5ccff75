"""Rules about the value that most rows have."""

from __future__ import annotations

from decimal import Decimal

from lakeguard.gate.grounds import Grounds, Unmeasured, broken, result, where_words
from lakeguard.gate.judged_shares import judge_share
from lakeguard.gate.judgement import Bounds, CommonJudged
from lakeguard.gate.literals import EXACT
from lakeguard.gate.rule import Rule
from lakeguard.gate.scalars import as_count
from lakeguard_sdk.decision import CheckResult
from lakeguard_sdk.definition import RuleDefinition
from lakeguard_sdk.words import Outcome


def judge_common(
    definition: RuleDefinition, rule: Rule, judged: CommonJudged, grounds: Grounds
) -> CheckResult:
    """As its share is judged, where it is the value that it must be. What is observed is a share
    in either case: that of the most common value, or of the one that it must be."""
    most, rows, held = (as_count(grounds.answer(asked)) for asked in judged.asked)
    if held > most:
        raise Unmeasured(f"{held:,} rows with one value, and {most:,} with the most common")
    limit = f"{judged.value!r:.60}"
    if rows and held < most:
        message = (
            f"{held:,} of {rows:,} rows{where_words(rule)} have {limit}, and {most:,} have another"
            " value, which is more common"
        )
        failed, share = broken(definition.severity), _share(held, rows)
        return result(definition, failed, message, observed=share, limit=limit)
    limits = (rule.warn_if, rule.fail_if, judged.share.past)
    if any(limits) or _bounded(judged.share.bounds):
        return judge_share(definition, rule, judged.share, grounds)
    message = f"{held:,} of {rows:,} rows{where_words(rule)} have {limit}, and none is more common"
    return result(definition, Outcome.PASS, message, observed=_share(held, rows), limit=limit)


def _bounded(bounds: Bounds) -> bool:
    return bounds.low is not None or bounds.high is not None


def _share(held: int, rows: int) -> float | None:
    """In per cent; of nothing there is none."""
    return float(f"{EXACT.divide(Decimal(100 * held), Decimal(rows)):.12g}") if rows else None

"""One compiled rule against evidence: what it comes to, and the sentence that says so."""

from __future__ import annotations

from lakeguard.gate.grounds import Grounds, Unmeasured
from lakeguard.gate.judged_aside import judge_aside
from lakeguard.gate.judged_common import judge_common
from lakeguard.gate.judged_drift import judge_growth, judge_spread
from lakeguard.gate.judged_formula import judge_formula
from lakeguard.gate.judged_rows import judge_groups, judge_rows
from lakeguard.gate.judged_shares import (
    judge_age,
    judge_drift,
    judge_files,
    judge_settled,
    judge_share,
)
from lakeguard.gate.judged_values import judge_value
from lakeguard.gate.judgement import (
    AgeJudged,
    CommonJudged,
    DriftJudged,
    FilesJudged,
    FormulaJudged,
    GroupsJudged,
    GrowthJudged,
    RowsJudged,
    Settled,
    ShareJudged,
    SpreadJudged,
    ValueJudged,
)
from lakeguard.gate.rules import CompiledRule
from lakeguard_sdk.decision import CheckResult
from lakeguard_sdk.definition import RuleDefinition
from lakeguard_sdk.words import Outcome

__all__ = ["Grounds", "Unmeasured", "evaluate"]

NOT_SET_ASIDE = "on_fail quarantine blocks: no row is set aside"


def evaluate(definition: RuleDefinition, compiled: CompiledRule, grounds: Grounds) -> CheckResult:
    """The rule's result; Unmeasured or NotAValue where the evidence does not carry one."""
    if definition.rule_id in grounds.aside and compiled.rule.on_fail == "quarantine":
        return judge_aside(definition, compiled.rule, compiled.judgement, grounds)
    found = _judged(definition, compiled, grounds)
    if compiled.rule.on_fail == "quarantine" and found.outcome is Outcome.FAIL:
        return found.model_copy(update={"message": f"{found.message}; {NOT_SET_ASIDE}"})
    return found


def _judged(definition: RuleDefinition, compiled: CompiledRule, grounds: Grounds) -> CheckResult:
    rule, judged = compiled.rule, compiled.judgement
    match judged:
        case RowsJudged():
            return judge_rows(definition, rule, judged, grounds)
        case GroupsJudged():
            return judge_groups(definition, rule, judged, grounds)
        case FormulaJudged():
            return judge_formula(definition, rule, judged, grounds)
        case ValueJudged():
            return judge_value(definition, rule, judged, grounds)
        case ShareJudged():
            return judge_share(definition, rule, judged, grounds)
        case CommonJudged():
            return judge_common(definition, rule, judged, grounds)
        case AgeJudged():
            return judge_age(definition, rule, judged, grounds)
        case DriftJudged():
            return judge_drift(definition, rule, judged, grounds)
        case SpreadJudged():
            return judge_spread(definition, rule, judged, grounds)
        case GrowthJudged():
            return judge_growth(definition, rule, judged, grounds)
        case FilesJudged():
            return judge_files(definition, rule, judged, grounds)
        case Settled():
            return judge_settled(definition, judged)

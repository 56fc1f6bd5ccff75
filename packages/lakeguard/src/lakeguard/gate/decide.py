"""The decision: a pure function of facts, evidence, rules, policies, history and the time.

It fails closed. What is missing, unknown, unreadable or contradictory is an ERROR, and an
ERROR blocks like a FAIL. All checks are made and listed, whatever the first one came to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from lakeguard.gate.case import CaseFacts, History
from lakeguard.gate.consistency import contradictions
from lakeguard.gate.evaluate import Grounds, Unmeasured, evaluate
from lakeguard.gate.extremes import tagged_columns, without_extremes
from lakeguard.gate.grammar_error import GrammarError
from lakeguard.gate.policies import difference_text, discards, governs, judge_policy
from lakeguard.gate.policy_form import Look
from lakeguard.gate.rules import CompiledRule, compiler_for
from lakeguard.gate.scalars import NotAValue
from lakeguard.gate.schema_wording import REACTION_WORDS
from lakeguard.gate.waiving import waivable, waived
from lakeguard.gate.wording import counted
from lakeguard_sdk.decision import CheckResult, Ruling
from lakeguard_sdk.definition import PolicyDefinition, RuleDefinition
from lakeguard_sdk.evidence import Evidence
from lakeguard_sdk.run import SchemaReaction
from lakeguard_sdk.schema_words import Reaction
from lakeguard_sdk.words import CheckKind, Outcome, Verdict

__all__ = ["SEMANTICS", "CaseFacts", "History", "decide"]

SEMANTICS = 1
"""The version of what rules, policies and this function mean; every decision records it.

From 0.1.0 on, a change of meaning adds a number and keeps the earlier meaning beside it.
"""

_KINDS = list(CheckKind)
_BLOCKING = (Outcome.FAIL, Outcome.ERROR)
_REACTION_OUTCOMES = {
    Reaction.ACCEPT: Outcome.PASS,
    Reaction.ACCEPT_CAST: Outcome.PASS,
    Reaction.LEFT_OUT: Outcome.WARN,
    Reaction.QUARANTINE_ROW: Outcome.WARN,
    Reaction.BLOCK: Outcome.FAIL,
}


def decide(
    facts: CaseFacts,
    evidence: Evidence | None,
    ruleset: tuple[RuleDefinition, ...],
    policies: tuple[PolicyDefinition, ...],
    history: History,
    clock: datetime,
) -> Ruling:
    """The ruling. It is ALLOWED only with evidence and with no check that is FAIL or ERROR,
    and does not depend on the order of anything that it is given. Policies over other datasets
    are not listed."""
    judged = [policy for policy in policies if governs(policy, facts)]
    look = Look(facts, evidence, clock)
    compiler = _compiler(facts)
    grounds = None
    if evidence is not None:
        grounds = Grounds(evidence, history, clock, frozenset(facts.aside))
    found = [_policy_check(look, policy) for policy in judged]
    found += [_rule_check(rule, compiler, grounds) for rule in ruleset]
    checks = [*facts.eligibility, *_schema_checks(facts, evidence)]
    checks += [_with_waiver(check, facts, judged, clock) for check in found]
    checks.sort(key=_place)
    blocking = [check for check in checks if check.outcome in _BLOCKING]
    reasons = [f"{check.check_id}: {check.message}" for check in blocking]
    if evidence is None and not reasons:
        reasons = ["evidence: nothing was measured, so nothing can be allowed"]
    return Ruling(
        verdict=Verdict.BLOCKED if reasons else Verdict.ALLOWED,
        reasons=tuple(reasons),
        checks=tuple(checks),
        semantics=SEMANTICS,
        decided_at=clock,
        discard=evidence is not None and _must_go(judged, checks),
    )


def _place(check: CheckResult) -> tuple[int, str, str, str, str]:
    kind = _KINDS.index(check.kind)
    return kind, check.check_id, check.expression, check.outcome, check.message


def _schema_checks(facts: CaseFacts, evidence: Evidence | None) -> list[CheckResult]:
    """One check for each difference, and one for the evidence as a whole."""
    checks = [_reaction_check(item) for item in facts.schema_differences]
    if evidence is None:
        return checks
    try:
        problems = contradictions(facts, evidence)
    except Exception as error:  # noqa: BLE001 - whatever goes wrong here, the gate stays closed
        problems = [f"the evidence cannot be checked: {_named(error)}"]
    outcome = Outcome.ERROR if problems else Outcome.PASS
    shape = f"{counted(evidence.rows, 'row')}, {counted(len(facts.declared.columns), 'column')}"
    message = "; ".join(problems) or f"{shape}, as declared"
    checks.append(_schema_check("evidence", "evidence agrees with itself", outcome, message))
    return checks


def _reaction_check(item: SchemaReaction) -> CheckResult:
    message = f"{difference_text(item)}: {REACTION_WORDS[item.reaction]}"
    outcome = _REACTION_OUTCOMES[item.reaction]
    words = item.change.lower()
    return _schema_check(f"schema.{item.column or words}", words, outcome, message)


def _schema_check(check_id: str, expression: str, outcome: Outcome, message: str) -> CheckResult:
    return CheckResult(
        kind=CheckKind.SCHEMA,
        check_id=check_id,
        expression=expression,
        outcome=outcome,
        message=message,
    )


def _with_waiver(
    check: CheckResult, facts: CaseFacts, policies: list[PolicyDefinition], clock: datetime
) -> CheckResult:
    if not facts.waivers or not waivable(check, policies):
        return check
    return waived(check, facts.waivers, clock)


def _must_go(policies: list[PolicyDefinition], checks: list[CheckResult]) -> bool:
    """Whether what was staged holds what a policy says may not even be kept."""
    failed = {
        check.check_id
        for check in checks
        if check.kind is CheckKind.POLICY and check.outcome is Outcome.FAIL
    }
    return any(policy.policy in failed and discards(policy) for policy in policies)


def _policy_check(look: Look, policy: PolicyDefinition) -> CheckResult:
    try:
        return judge_policy(look, policy)
    except Exception as error:  # noqa: BLE001 - whatever goes wrong here, the gate stays closed
        return CheckResult(
            kind=CheckKind.POLICY,
            check_id=policy.policy,
            expression=policy.expression,
            outcome=Outcome.ERROR,
            message=f"the policy could not be judged: {_named(error)}",
        )


def _rule_check(
    rule: RuleDefinition,
    compiler: Callable[[RuleDefinition], CompiledRule],
    grounds: Grounds | None,
) -> CheckResult:
    compiled = _compiled(rule, compiler)
    check = _judged(rule, compiled, grounds)
    if isinstance(compiled, Exception):
        return check.model_copy(update={"fingerprint": rule.content_hash()})
    return check.model_copy(update=compiled.told)


def _compiler(facts: CaseFacts) -> Callable[[RuleDefinition], CompiledRule]:
    """Rules over the declared columns, which name the worst value of none that carries a tag."""
    compiler = compiler_for(facts.declared)
    tagged = tagged_columns(facts.tags, facts.subject)
    if not tagged:
        return compiler

    def hiding(rule: RuleDefinition) -> CompiledRule:
        compiled = compiler(rule)
        judged = without_extremes(compiled.judgement, tagged)
        return compiled if judged is compiled.judgement else replace(compiled, judgement=judged)

    return hiding


def _compiled(
    rule: RuleDefinition, compiler: Callable[[RuleDefinition], CompiledRule]
) -> CompiledRule | Exception:
    """Or why it cannot be compiled."""
    try:
        return compiler(rule)
    except Exception as error:  # noqa: BLE001 - whatever goes wrong here, the gate stays closed
        return error


def _judged(
    rule: RuleDefinition, compiled: CompiledRule | Exception, grounds: Grounds | None
) -> CheckResult:
    if not rule.active:
        return _rule_result(rule, Outcome.NOT_EVALUATED, "not evaluated: the rule is not active")
    if grounds is None:
        return _rule_result(rule, Outcome.NOT_EVALUATED, "not evaluated: no data was measured")
    try:
        if isinstance(compiled, Exception):
            raise compiled
        return evaluate(rule, compiled, grounds)
    except GrammarError as error:
        return _rule_result(rule, Outcome.ERROR, f"the rule cannot be judged: {error}")
    except (Unmeasured, NotAValue) as error:
        return _rule_result(rule, Outcome.ERROR, str(error))
    except Exception as error:  # noqa: BLE001 - whatever goes wrong here, the gate stays closed
        return _rule_result(rule, Outcome.ERROR, f"the rule could not be judged: {_named(error)}")


def _rule_result(rule: RuleDefinition, outcome: Outcome, message: str) -> CheckResult:
    return CheckResult(
        kind=CheckKind.RULE,
        check_id=rule.rule_id,
        expression=rule.expression,
        outcome=outcome,
        message=message,
    )


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"

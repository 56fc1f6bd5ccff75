"""The decision: a pure function of facts, evidence, rules, policies, history and the time.

It fails closed. What is missing, unknown, unreadable or contradictory is an ERROR, and an
ERROR blocks like a FAIL. All checks are made and listed, whatever the first one came to.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from lakeguard.gate.case import CaseFacts, History
from lakeguard.gate.consistency import contradictions
from lakeguard.gate.evaluate import Unmeasured, evaluate
from lakeguard.gate.grammar_error import GrammarError
from lakeguard.gate.policies import difference_text, judge_policy
from lakeguard.gate.rules import CompiledRule, compiler_for
from lakeguard.gate.scalars import NotAValue
from lakeguard.gate.wording import counted
from lakeguard_sdk.decision import CheckResult, Ruling
from lakeguard_sdk.definition import PolicyDefinition, RuleDefinition
from lakeguard_sdk.evidence import Evidence
from lakeguard_sdk.run import SchemaReaction
from lakeguard_sdk.words import CheckKind, Outcome, Verdict

__all__ = ["SEMANTICS", "CaseFacts", "History", "decide"]

SEMANTICS = 1
"""The version of what rules, policies and this function mean; a decision is replayed with it."""

_KINDS = list(CheckKind)
_BLOCKING = (Outcome.FAIL, Outcome.ERROR)
_REACTION_OUTCOMES = {"LEFT_OUT": Outcome.WARN, "CAST": Outcome.PASS, "BLOCK": Outcome.FAIL}
_REACTION_WORDS = {"LEFT_OUT": "left out", "CAST": "cast without loss", "BLOCK": "not accepted"}


def decide(
    facts: CaseFacts,
    evidence: Evidence | None,
    ruleset: tuple[RuleDefinition, ...],
    policies: tuple[PolicyDefinition, ...],
    history: History,
    clock: datetime,
) -> Ruling:
    """The ruling. It is ALLOWED only with evidence and with no check that is FAIL or ERROR,
    and does not depend on the order of anything that it is given. Policies of other layers
    are not about this dataset, and not listed."""
    checks = [*facts.eligibility, *_schema_checks(facts, evidence)]
    for policy in policies:
        if policy.applies_to_layer == facts.dataset.layer:
            checks.append(_policy_check(facts, policy, evidence))
    compiled = compiler_for(facts.declared)
    checks.extend(_rule_check(rule, compiled, evidence) for rule in ruleset)
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
    message = f"{difference_text(item)}: {_REACTION_WORDS[item.reaction]}"
    outcome = _REACTION_OUTCOMES[item.reaction]
    return _schema_check(f"schema.{item.column}", f"column {item.change}", outcome, message)


def _schema_check(check_id: str, expression: str, outcome: Outcome, message: str) -> CheckResult:
    return CheckResult(
        kind=CheckKind.SCHEMA,
        check_id=check_id,
        expression=expression,
        outcome=outcome,
        message=message,
    )


def _policy_check(
    facts: CaseFacts, policy: PolicyDefinition, evidence: Evidence | None
) -> CheckResult:
    try:
        return judge_policy(facts, policy, has_evidence=evidence is not None)
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
    compiled: Callable[[RuleDefinition], CompiledRule],
    evidence: Evidence | None,
) -> CheckResult:
    if not rule.active:
        return _rule_result(rule, Outcome.NOT_EVALUATED, "not evaluated: the rule is not active")
    if evidence is None:
        return _rule_result(rule, Outcome.NOT_EVALUATED, "not evaluated: no data was measured")
    try:
        return evaluate(rule, compiled(rule), evidence)
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

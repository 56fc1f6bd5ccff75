"""Policies: platform guarantees above every pipeline.

An expression is one of the forms of its policy type; see ``policy_types``.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache

from lakeguard.gate.evaluation.case import CaseFacts
from lakeguard.gate.grammar.cursor import Cursor
from lakeguard.gate.grammar.grammar_error import GrammarError, Span
from lakeguard.gate.policy_types.catalog import POLICY_KINDS
from lakeguard.gate.policy_types.pii import ForbidPattern
from lakeguard.gate.policy_types.policy_form import (
    CannotEvaluate,
    Needs,
    PolicyForm,
    PolicyInput,
    PolicyResult,
)
from lakeguard.gate.policy_types.policy_tokens import POLICY_TOKENS
from lakeguard.gate.policy_types.schema_mode import SchemaMode
from lakeguard.gate.policy_types.sla import Arrival, Freshness
from lakeguard.gate.schema.messages import change_text as difference_text
from lakeguard_sdk.core.enums import (
    CheckKind,
    Enforcement,
    Layer,
    Outcome,
    PolicyType,
)
from lakeguard_sdk.expressions.measures import Measure, measure_key
from lakeguard_sdk.model.decision import CheckResult
from lakeguard_sdk.model.definitions import PolicyDefinition
from lakeguard_sdk.model.read_models import Breach
from lakeguard_sdk.types.schema import TableSchema

__all__ = [
    "applies",
    "difference_text",
    "discards",
    "evaluate_metadata",
    "evaluate_policy",
    "governs",
    "parse_policy",
    "policy_measures",
    "policy_text",
    "schema_mode",
]


@lru_cache(maxsize=1024)
def parse_policy(type: PolicyType, expression: str) -> PolicyForm:
    """Parse a policy expression; GrammarError, with the span, if it is invalid."""
    kind = POLICY_KINDS.get(type)
    if kind is None:
        message = f"unknown policy type {type!s:.64}"
        raise GrammarError(message, Span(0, max(1, len(expression))), kind="syntax")
    cursor = Cursor(expression, POLICY_TOKENS)
    policy = kind.read(cursor)
    if cursor.token.kind != "end":
        raise cursor.error("nothing more expected")
    return policy


def policy_text(policy: PolicyForm) -> str:
    """Canonical text of a policy; parses back to the same policy."""
    return str(policy)


def applies(policy: PolicyDefinition, layer: Layer) -> bool:
    return policy.active and policy.applies_to_layer in (None, layer)


def governs(policy: PolicyDefinition, facts: CaseFacts) -> bool:
    """Whether the policy governs the dataset: layer, domain and tag must match where given. An
    unknown domain matches."""
    if policy.applies_to_layer not in (None, facts.dataset.layer):
        return False
    domain, subject = policy.applies_to_domain.lower(), facts.subject
    if domain and subject is not None and subject.domain.lower() != domain:
        return False
    wanted = policy.applies_to_tag.lower()
    return not wanted or wanted in _tags(facts)


def schema_mode(policy: PolicyDefinition, layer: Layer) -> str | None:
    """The schema mode that the policy enforces in this layer by blocking, else None."""
    if not applies(policy, layer) or policy.enforcement != Enforcement.BLOCK:
        return None
    parsed = parse_policy(policy.type, policy.expression)
    return parsed.mode.lower() if isinstance(parsed, SchemaMode) else None


def policy_measures(
    policies: Iterable[PolicyDefinition], schema: TableSchema
) -> tuple[Measure, ...]:
    """Measures that the policies need, without duplicates. An invalid policy needs none: the
    decision blocks on it."""
    needed: dict[str, Measure] = {}
    for policy in policies:
        try:
            wanted = parse_policy(policy.type, policy.expression).measures(schema)
        except GrammarError:
            continue
        if policy.active:
            needed.update({measure_key(measure): measure for measure in wanted})
    return tuple(needed[key] for key in sorted(needed))


def evaluate_metadata(
    facts: CaseFacts, policies: tuple[PolicyDefinition, ...], clock: datetime
) -> tuple[CheckResult, ...]:
    """Evaluate the dataset's policies that need no data. Inactive ones are listed as not evaluated,
    invalid ones as ERROR."""
    policy_input = PolicyInput(facts, None, clock)
    results = [
        evaluate_policy(policy_input, policy)
        for policy in policies
        if governs(policy, facts) and _needs(policy) is Needs.METADATA
    ]
    return tuple(sorted(results, key=lambda check: (check.check_id, check.to_json())))


def evaluate_policy(policy_input: PolicyInput, policy: PolicyDefinition) -> CheckResult:
    """Evaluate one policy; an invalid definition is an ERROR, not an exception."""
    if not policy.active:
        return _check(policy, Outcome.NOT_EVALUATED, "not evaluated: the policy is inactive")
    try:
        parsed = parse_policy(policy.type, policy.expression)
    except GrammarError as error:
        return _check(policy, Outcome.ERROR, f"invalid policy: {error}")
    if parsed.needs is Needs.EVIDENCE and policy_input.evidence is None:
        return _check(policy, Outcome.NOT_EVALUATED, "not evaluated: no data was measured")
    try:
        return _result(policy, parsed.evaluate(policy_input))
    except CannotEvaluate as error:
        return _check(policy, Outcome.ERROR, f"the policy cannot be evaluated: {error}")


def discards(policy: PolicyDefinition) -> bool:
    """Whether staged files that violate the policy must be deleted at once."""
    return parse_policy(policy.type, policy.expression).discards


def forbids_pattern(policy: PolicyDefinition) -> bool:
    """Whether it searches texts for a pattern, so that any text may contain what it forbids."""
    if policy.type is not PolicyType.PII:
        return False
    return isinstance(parse_policy(policy.type, policy.expression), ForbidPattern)


def _needs(policy: PolicyDefinition) -> Needs:
    """Invalid policies are evaluated as early as possible: they block."""
    try:
        return parse_policy(policy.type, policy.expression).needs
    except GrammarError:
        return Needs.METADATA


def _tags(facts: CaseFacts) -> set[str]:
    """Tags of the dataset's columns, declared and inherited."""
    travelled = () if facts.subject is None else facts.subject.travelled
    declared = (tag for tags in facts.tags.values() for tag in tags)
    return {tag.lower() for tag in (*declared, *(item.tag for item in travelled))}


def _result(policy: PolicyDefinition, judged: PolicyResult) -> CheckResult:
    if judged.holds is None:
        return _check(policy, Outcome.NOT_EVALUATED, f"not evaluated: {judged.message}")
    if judged.holds:
        return _check(policy, Outcome.PASS, judged.message)
    alert = policy.enforcement == Enforcement.ALERT
    return _check(policy, Outcome.WARN if alert else Outcome.FAIL, judged.message)


def _check(policy: PolicyDefinition, outcome: Outcome, message: str) -> CheckResult:
    return CheckResult(
        kind=CheckKind.POLICY,
        check_id=policy.policy,
        expression=policy.expression,
        outcome=outcome,
        message=message,
    )


# SLAs that are due even if no run comes.


def breaches(
    policies: Iterable[PolicyDefinition], promoted_at: datetime | None, clock: datetime
) -> tuple[Breach, ...]:
    """SLA policies of a dataset that are violated now, given its last promotion. An invalid policy
    is a violation."""
    found = []
    for policy in policies:
        if policy.type is not PolicyType.SLA or not policy.active:
            continue
        message = _broken(policy, promoted_at, clock)
        if message is not None:
            found.append(
                Breach(
                    policy=policy.policy,
                    expression=policy.expression,
                    enforcement=policy.enforcement,
                    message=message,
                )
            )
    return tuple(sorted(found, key=lambda breach: breach.policy))


def _broken(policy: PolicyDefinition, promoted_at: datetime | None, clock: datetime) -> str | None:
    try:
        parsed = parse_policy(policy.type, policy.expression)
    except GrammarError as error:
        return f"invalid policy: {error}"
    if isinstance(parsed, Freshness | Arrival):
        return parsed.breach(promoted_at, clock)
    return None

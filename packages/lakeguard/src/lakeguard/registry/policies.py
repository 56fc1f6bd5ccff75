"""A policy file of definitions."""

from __future__ import annotations

from lakeguard.gate.grammar_error import GrammarError
from lakeguard.gate.policies import parse_policy, policy_text
from lakeguard.registry.fields import Fields
from lakeguard.registry.findings import Findings
from lakeguard.registry.nodes import Document, Scalar
from lakeguard.registry.rules import grammar_hint
from lakeguard_sdk.definition import PolicyDefinition
from lakeguard_sdk.errors import PolicySyntax
from lakeguard_sdk.words import Enforcement, Layer, PolicyType

KEYS = ("policy", "applies_to", "domain", "tag", "type", "expression", "enforcement", "active")


def read_policy(document: Document, findings: Findings) -> PolicyDefinition | None:
    """The definition, or None with every mistake among the findings."""
    before = findings.count
    fields = Fields(document, document.root, findings, KEYS)
    name = fields.word("policy")
    layer = fields.choice("applies_to", Layer) if fields.node("applies_to") else None
    policy_type = fields.choice("type", PolicyType)
    expression = fields.scalar("expression", required=True)
    enforcement = fields.choice("enforcement", Enforcement, Enforcement.BLOCK)
    active = fields.flag("active", True)
    text = _expression(fields, policy_type, expression)
    domain, tag = fields.text("domain") or "", fields.word("tag", "") or ""
    if findings.count > before:
        return None
    return PolicyDefinition.model_validate(
        {
            "policy": name,
            "applies_to_layer": layer,
            "applies_to_domain": domain,
            "applies_to_tag": tag,
            "type": policy_type,
            "expression": text,
            "enforcement": enforcement,
            "active": active,
        }
    )


def _expression(
    fields: Fields, policy_type: PolicyType | None, scalar: Scalar | None
) -> str | None:
    if policy_type is None or scalar is None:
        return None
    try:
        return policy_text(parse_policy(policy_type, scalar.value))
    except GrammarError as error:
        place = fields.document.place_within(scalar, error.offset, error.length)
        fields.add(PolicySyntax(place, problem=error.message, hint=grammar_hint(error)))
        return None

"""Parses policy and schema profile files."""

from __future__ import annotations

from lakeguard.gate.grammar.grammar_error import GrammarError
from lakeguard.gate.policies import parse_policy, policy_text
from lakeguard.gate.schema.profiles import POSSIBLE
from lakeguard.registry.files.rules import grammar_hint
from lakeguard.registry.text.fields import LONGEST_DESCRIPTION, Fields
from lakeguard.registry.text.problems import Findings
from lakeguard.registry.text.yaml_nodes import Document, Scalar
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.core.enums import Enforcement, Layer, PolicyType
from lakeguard_sdk.errors import PolicySyntax
from lakeguard_sdk.model.definitions import PolicyDefinition, ProfileDefinition
from lakeguard_sdk.model.schema_changes import Reaction, SchemaChange

POLICY_KEYS = (
    "policy",
    "applies_to",
    "domain",
    "tag",
    "type",
    "expression",
    "enforcement",
    "active",
    "external_id",
)


def read_policy(document: Document, findings: Findings) -> PolicyDefinition | None:
    """The definition, or None after reporting every error."""
    before = findings.count
    fields = Fields(document, document.root, findings, POLICY_KEYS)
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
            "external_id": fields.text("external_id") or "",
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


# Schema profiles.

FLAGS = {
    "allow_column_drop": False,
    "allow_type_widen": True,
    "allow_type_narrow": False,
    "allow_nullable_change": True,
    "auto_add_columns": True,
}
"""Flags with their defaults."""
PROFILE_KEYS = ("profile", *FLAGS, "reactions", "description", "active")


def read_profile(document: Document, findings: Findings) -> ProfileDefinition | None:
    """The definition, or None after reporting every error."""
    before = findings.count
    fields = Fields(document, document.root, findings, PROFILE_KEYS)
    name = fields.word("profile")
    flags = {key: fields.flag(key, default) for key, default in FLAGS.items()}
    reactions = _reactions(fields)
    description = fields.text("description", limit=LONGEST_DESCRIPTION) or ""
    active = fields.flag("active", True)
    if findings.count > before or name is None:
        return None
    return ProfileDefinition(
        profile=name, reactions=reactions, description=description, active=active, **flags
    )


def reaction_problem(change: str, reaction: str) -> str | None:
    """Why the reaction is invalid, or None. Changes are all lower or all upper case."""
    known = [item.value for item in SchemaChange]
    if change.upper() not in known or change not in (change.upper(), change.lower()):
        return f"unknown schema change {change[:80]!r}{did_you_mean(change.upper(), known)}"
    possible = [item.value for item in POSSIBLE[SchemaChange(change.upper())]]
    if len(possible) == 1:
        return f"{change} always blocks"
    return None if reaction in possible else f"{change} allows {', '.join(possible)}"


def _reactions(fields: Fields) -> dict[SchemaChange, Reaction]:
    block = fields.block_at("reactions", "{widen: BLOCK}")
    found: dict[SchemaChange, Reaction] = {}
    for change, key in block.keys.items() if block else ():
        node = block.values[change] if block else key
        reaction = node.value if isinstance(node, Scalar) else ""
        problem = reaction_problem(change, reaction)
        if problem is not None:
            fields.wrong(key, "reactions", problem)
            continue
        found[SchemaChange(change.upper())] = Reaction(reaction)
    return found

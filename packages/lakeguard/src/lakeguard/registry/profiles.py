"""A schema profile file: which differences of a schema are compatible."""

from __future__ import annotations

from lakeguard.gate.schema_profiles import POSSIBLE
from lakeguard.registry.fields import LONGEST_DESCRIPTION, Fields
from lakeguard.registry.findings import Findings
from lakeguard.registry.nodes import Document, Scalar
from lakeguard_sdk.definition import ProfileDefinition
from lakeguard_sdk.schema_words import Reaction, SchemaChange
from lakeguard_sdk.spelling import did_you_mean

FLAGS = {
    "allow_column_drop": False,
    "allow_type_widen": True,
    "allow_type_narrow": False,
    "allow_nullable_change": True,
    "auto_add_columns": True,
}
"""With their defaults."""
KEYS = ("profile", *FLAGS, "reactions", "description", "active")


def read_profile(document: Document, findings: Findings) -> ProfileDefinition | None:
    """The definition, or None with every mistake among the findings."""
    before = findings.count
    fields = Fields(document, document.root, findings, KEYS)
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
    """Why a profile cannot answer so; classes are written all in lower or all in upper case."""
    known = [item.value for item in SchemaChange]
    if change.upper() not in known or change not in (change.upper(), change.lower()):
        return f"there is no class of change {change[:80]!r}{did_you_mean(change.upper(), known)}"
    possible = [item.value for item in POSSIBLE[SchemaChange(change.upper())]]
    if len(possible) == 1:
        return f"{change} always blocks"
    return None if reaction in possible else f"{change} is answered by {', '.join(possible)}"


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

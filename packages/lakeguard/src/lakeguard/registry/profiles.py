"""A schema profile file: which differences of a schema are compatible."""

from __future__ import annotations

from lakeguard.registry.fields import LONGEST_DESCRIPTION, Fields
from lakeguard.registry.findings import Findings
from lakeguard.registry.nodes import Document
from lakeguard_sdk.definition import ProfileDefinition

FLAGS = {
    "allow_column_drop": False,
    "allow_type_widen": True,
    "allow_type_narrow": False,
    "allow_nullable_change": True,
    "auto_add_columns": True,
}
"""With their defaults."""
KEYS = ("profile", *FLAGS, "description", "active")


def read_profile(document: Document, findings: Findings) -> ProfileDefinition | None:
    """The definition, or None with every mistake among the findings."""
    before = findings.count
    fields = Fields(document, document.root, findings, KEYS)
    name = fields.word("profile")
    flags = {key: fields.flag(key, default) for key, default in FLAGS.items()}
    description = fields.text("description", limit=LONGEST_DESCRIPTION) or ""
    active = fields.flag("active", True)
    if findings.count > before or name is None:
        return None
    return ProfileDefinition(profile=name, description=description, active=active, **flags)

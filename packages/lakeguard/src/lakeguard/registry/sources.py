"""A source file of definitions: where data comes from, and how it is read."""

from __future__ import annotations

from lakeguard.registry.details import read_columns_named, read_details
from lakeguard.registry.fields import LONGEST_DESCRIPTION, LONGEST_PATH, Fields
from lakeguard.registry.findings import Findings
from lakeguard.registry.nodes import Document
from lakeguard.registry.secrets_named import read_secrets
from lakeguard.registry.source_invariants import PLACE
from lakeguard.registry.source_options import read_options
from lakeguard_sdk.definition import SourceDefinition
from lakeguard_sdk.words import Malformed, SourceFormat

KEYS = (
    "source", "format", "path", "url", "secrets", "options", "header", "malformed", "landing",
    "owner", "description", "details", "external_id", "active",
)  # fmt: skip


def read_source(document: Document, findings: Findings) -> SourceDefinition | None:
    """The definition, or None with every mistake among the findings."""
    before = findings.count
    fields = Fields(document, document.root, findings, KEYS)
    source_format = fields.choice("format", SourceFormat)
    if fields.node("path") is None and fields.node("url") is None:
        fields.missing(PLACE)
    said = {
        "source": fields.word("source"),
        "format": source_format,
        "path": fields.text("path", limit=LONGEST_PATH) or "",
        "url": fields.text("url", limit=LONGEST_PATH) or "",
        "secrets": read_secrets(fields),
        "options": read_options(fields, source_format) if source_format else {},
        "header": read_columns_named(fields, "header"),
        "malformed": fields.choice("malformed", Malformed, Malformed.REFUSE),
        "landing": fields.flag("landing", False),
        "owner": fields.text("owner") or "",
        "external_id": fields.text("external_id") or "",
        "description": fields.text("description", limit=LONGEST_DESCRIPTION) or "",
        "details": read_details(fields, "details"),
        "active": fields.flag("active", True),
    }
    return None if findings.count > before else SourceDefinition.model_validate(said)

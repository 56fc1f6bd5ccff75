"""A target file of definitions: where tables lie, and which sources may write there."""

from __future__ import annotations

from lakeguard.registry.details import read_columns_named, read_details
from lakeguard.registry.fields import LONGEST_DESCRIPTION, LONGEST_PATH, Fields
from lakeguard.registry.findings import Findings
from lakeguard.registry.nodes import Block, Document, Node, Scalar
from lakeguard.registry.secrets_named import read_secrets
from lakeguard.registry.sql_lexing import MAX_CHARACTERS
from lakeguard_sdk.definition import SourceMapping, TargetDefinition
from lakeguard_sdk.words import TargetFormat

KEYS = (
    "target", "location", "zone", "type", "format", "url", "secrets", "partition_by", "transform",
    "sources", "description", "details", "external_id", "active",
)  # fmt: skip
MAPPING_KEYS = ("source", "relationship", "description", "active")
_MAPPING = "{source: crm, relationship: ingestion}"


def read_target(document: Document, findings: Findings) -> TargetDefinition | None:
    """The definition, or None with every mistake among the findings."""
    before = findings.count
    fields = Fields(document, document.root, findings, KEYS)
    name, zone = fields.word("target"), fields.word("zone")
    location = fields.text("location", required=True)
    target_type = fields.word("type", "folder")
    written_as = fields.choice("format", TargetFormat, TargetFormat.DELTA)
    if written_as is TargetFormat.POSTGRESQL and fields.node("url") is None:
        fields.missing("url")
    url = fields.text("url", limit=LONGEST_PATH) or ""
    secrets = read_secrets(fields)
    partition_by = read_columns_named(fields, "partition_by")
    transform = fields.text("transform", limit=MAX_CHARACTERS) or ""
    mappings = [_mapping(fields, node) for node in fields.items("sources")]
    details = read_details(fields, "details")
    external_id = fields.text("external_id") or ""
    description = fields.text("description", limit=LONGEST_DESCRIPTION) or ""
    active = fields.flag("active", True)
    if findings.count > before:
        return None
    return TargetDefinition.model_validate(
        {
            "target": name,
            "location": location,
            "type": target_type,
            "zone": zone,
            "format": written_as,
            "url": url,
            "secrets": secrets,
            "partition_by": partition_by,
            "transform": transform,
            "sources": tuple(mappings),
            "external_id": external_id,
            "description": description,
            "details": details,
            "active": active,
        }
    )


def _mapping(fields: Fields, node: Node) -> SourceMapping | None:
    """``{source: crm}``, or the name of the source alone."""
    if isinstance(node, Scalar):
        name = fields.as_word(node)
        return None if name is None else SourceMapping(source=name)
    if not isinstance(node, Block):
        fields.wrong(node, "sources", f"write a mapping, such as {_MAPPING}")
        return None
    said = Fields(fields.document, node, fields.findings, MAPPING_KEYS)
    source, relationship = said.word("source"), said.word("relationship", "ingestion")
    description = said.text("description", limit=LONGEST_DESCRIPTION) or ""
    active = said.flag("active", True)
    if source is None or relationship is None:
        return None
    return SourceMapping(
        source=source, relationship=relationship, description=description, active=active
    )

"""Parses source and target files."""

from __future__ import annotations

from lakeguard.registry.files.details import read_columns_named, read_details, read_secrets
from lakeguard.registry.files.source_invariants import PLACE
from lakeguard.registry.files.source_options import read_options
from lakeguard.registry.text.fields import LONGEST_DESCRIPTION, LONGEST_PATH, Fields
from lakeguard.registry.text.problems import Findings
from lakeguard.registry.text.sql_lexing import MAX_CHARACTERS
from lakeguard.registry.text.yaml_nodes import (
    Block,
    Document,
    Node,
    Scalar,
)
from lakeguard_sdk.core.enums import Malformed, SourceFormat, TargetFormat
from lakeguard_sdk.model.definitions import SourceDefinition, SourceMapping, TargetDefinition

SOURCE_KEYS = (
    "source", "format", "path", "url", "secrets", "options", "header", "malformed", "landing",
    "owner", "description", "details", "external_id", "active", "source_type",
)  # fmt: skip


def read_source(document: Document, findings: Findings) -> SourceDefinition | None:
    """The definition, or None after reporting every error."""
    before = findings.count
    fields = Fields(document, document.root, findings, SOURCE_KEYS)
    source_format = fields.choice("format", SourceFormat)
    located = fields.node("path") is not None or fields.node("url") is not None
    if not located and source_format is not SourceFormat.OTHER:
        fields.missing(PLACE)
    values = {
        "source": fields.word("source"),
        "format": source_format,
        "source_type": fields.text("source_type") or "",
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
    return None if findings.count > before else SourceDefinition.model_validate(values)


# Targets.

TARGET_KEYS = (
    "target", "location", "zone", "type", "format", "url", "secrets", "partition_by", "transform",
    "sources", "description", "details", "external_id", "active",
)  # fmt: skip
MAPPING_KEYS = ("source", "relationship", "description", "active")
_MAPPING = "{source: crm, relationship: ingestion}"


def read_target(document: Document, findings: Findings) -> TargetDefinition | None:
    """The definition, or None after reporting every error."""
    before = findings.count
    fields = Fields(document, document.root, findings, TARGET_KEYS)
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
    """``{source: crm}``, or just the name of the source."""
    if isinstance(node, Scalar):
        name = fields.as_word(node)
        return None if name is None else SourceMapping(source=name)
    if not isinstance(node, Block):
        fields.wrong(node, "sources", f"write a mapping, such as {_MAPPING}")
        return None
    mapping = Fields(fields.document, node, fields.findings, MAPPING_KEYS)
    source, relationship = mapping.word("source"), mapping.word("relationship", "ingestion")
    description = mapping.text("description", limit=LONGEST_DESCRIPTION) or ""
    active = mapping.flag("active", True)
    if source is None or relationship is None:
        return None
    return SourceMapping(
        source=source, relationship=relationship, description=description, active=active
    )

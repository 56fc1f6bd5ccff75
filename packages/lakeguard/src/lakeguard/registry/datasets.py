"""A dataset file of definitions."""

from __future__ import annotations

from collections.abc import Callable

from lakeguard.registry.columns import read_columns
from lakeguard.registry.fields import LONGEST_DESCRIPTION, Fields
from lakeguard.registry.findings import Findings
from lakeguard.registry.nodes import Block, Document
from lakeguard.registry.rules import read_rules
from lakeguard_sdk.definition import DatasetDefinition, FromSource, FromSql
from lakeguard_sdk.definition_errors import MissingKey
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.words import LoadType

KEYS = (
    "dataset", "owner", "domain", "description", "active", "parents", "source", "build", "load",
    "columns", "rules",
)  # fmt: skip
LATER_KEYS = {
    "schema": "every difference from the declared columns is answered by the SCHEMA policy",
    "renamed_from": "register a new dataset",
}
BUILD_KEYS = ("sql",)
LATER_BUILD_KEYS = {"python": "build with sql"}
LOAD_KEYS = ("type",)
LATER_LOAD_KEYS = dict.fromkeys(("keys", "hash", "partition_by"), "FULL and APPEND need none")
LOAD_ALIASES = {"HYBRID": LoadType.APPEND}
LATER_LOADS = dict.fromkeys(
    ("INCREMENTAL", "PARTITION", "SCD2", "SNAPSHOT", "CDC"), "; write FULL or APPEND"
)

ReadSql = Callable[[Fields], FromSql | None]
"""Reads the file that ``build.sql`` names."""


def read_dataset(
    document: Document, findings: Findings, read_sql: ReadSql
) -> DatasetDefinition | None:
    """The definition, or None with every mistake among the findings."""
    before = findings.count
    fields = Fields(document, document.root, findings, KEYS, LATER_KEYS)
    name = _name(fields)
    owner, domain = fields.text("owner", required=True), fields.text("domain", required=True)
    description = fields.text("description", limit=LONGEST_DESCRIPTION) or ""
    active = fields.flag("active", True)
    parents = _parents(fields)
    build = _build(fields, read_sql)
    load = _load(fields)
    columns = read_columns(fields)
    rules = read_rules(fields, str(name or "this dataset"), columns)
    if findings.count > before or name is None or build is None or load is None:
        return None
    return DatasetDefinition(
        dataset=name,
        domain=domain or "",
        owner=owner or "",
        description=description,
        active=active,
        parents=parents,
        build=build,
        load=load,
        columns=columns.columns,
        rules=rules,
    )


def _name(fields: Fields) -> DatasetName | None:
    scalar = fields.scalar("dataset", required=True)
    return None if scalar is None else fields.as_dataset(scalar, "dataset")


def _parents(fields: Fields) -> tuple[DatasetName, ...]:
    found = (fields.as_dataset(node, "parents") for node in fields.items("parents"))
    return tuple(parent for parent in found if parent is not None)


def _build(fields: Fields, read_sql: ReadSql) -> FromSource | FromSql | None:
    has_source, has_build = fields.node("source"), fields.node("build")
    if has_source and has_build:
        fields.wrong(fields.block.keys["build"], "build", "write source or build, not both")
    elif has_source:
        source = fields.word("source")
        return FromSource(source=source) if source else None
    elif has_build:
        return _sql_build(fields, read_sql)
    else:
        first = next(iter(fields.block.keys.values()), fields.block)
        fields.add(MissingKey(fields.document.place(first), key="source or build"))
    return None


def _sql_build(fields: Fields, read_sql: ReadSql) -> FromSql | None:
    block = fields.block_at("build", "{sql: sql/orders.sql}")
    if block is None:
        return None
    build = Fields(fields.document, block, fields.findings, BUILD_KEYS, LATER_BUILD_KEYS)
    if "python" in block.keys:
        return None
    return read_sql(build)


def _load(fields: Fields) -> LoadType | None:
    block = fields.block_at("load", "{type: FULL}")
    if block is None:
        return None if fields.node("load") else LoadType.FULL
    load = Fields(fields.document, block, fields.findings, LOAD_KEYS, LATER_LOAD_KEYS)
    alias = _alias(block)
    return alias or load.choice("type", LoadType, later=LATER_LOADS)


def _alias(block: Block) -> LoadType | None:
    value = getattr(block.values.get("type"), "value", "")
    return LOAD_ALIASES.get(value)

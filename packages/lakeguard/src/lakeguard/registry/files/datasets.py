"""Parses a dataset file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from lakeguard.registry.files.builds import BUILD_KEYS, read_build
from lakeguard.registry.files.columns import ColumnsRead, read_columns
from lakeguard.registry.files.details import read_details
from lakeguard.registry.files.load_invariants import load_errors
from lakeguard.registry.files.loads import KEYS as LOAD_KEYS
from lakeguard.registry.files.loads import LoadContext, LoadRead, read_load
from lakeguard.registry.files.project_files import ProjectFiles
from lakeguard.registry.files.rules import read_rules
from lakeguard.registry.files.table_locations import LONGEST_PLACE
from lakeguard.registry.macros import Macros
from lakeguard.registry.text.fields import LONGEST_DESCRIPTION, LONGEST_TEXT, Fields
from lakeguard.registry.text.problems import Findings
from lakeguard.registry.text.yaml_nodes import Document, Scalar
from lakeguard_sdk.core.dataset_name import DatasetName, check_word
from lakeguard_sdk.core.enums import Lifecycle
from lakeguard_sdk.errors import BadDefinitionName, BadName, DefinitionError
from lakeguard_sdk.model.definitions import PROFILE_EVERY, DatasetDefinition, FromSql, Pending
from lakeguard_sdk.types.schema import Column, TableSchema

KEYS = (
    "dataset", "renamed_from", "owner", "domain", "description", "active", "parents", "source",
    "build", "load", "schema", "target", "columns", "rules", "external_id", "details",
    "location", "profile", "status",
)  # fmt: skip
DEFAULT_PROFILE = "default"
SCHEMA_KEYS = ("profile", "leave_out")
PROFILE_KEYS = ("every",)
EVERY = "write version, or a duration such as 1d"


SqlErrors = Callable[[FromSql, tuple[DatasetName, ...] | None], Iterable[DefinitionError]]
"""The errors of a build, given its parents; None if these are not known."""


def read_dataset(
    document: Document,
    findings: Findings,
    files: ProjectFiles,
    macros: Macros | None = None,
    sql_errors: SqlErrors = lambda _build, _parents: (),
) -> DatasetDefinition | None:
    """The definition, or None after reporting every error, also those of its SQL; ``files`` reads
    its code, ``macros`` holds the catalogue rules it may use."""
    before = findings.count
    inner = {"load": LOAD_KEYS, "build": BUILD_KEYS, "schema": SCHEMA_KEYS}
    fields = Fields(document, document.root, findings, KEYS, inner)
    name, renamed_from = _name(fields, "dataset"), _name(fields, "renamed_from", required=False)
    owner, domain = fields.text("owner", required=True), fields.text("domain", required=True)
    description = fields.text("description", limit=LONGEST_DESCRIPTION) or ""
    active = fields.flag("active", True)
    status = fields.choice("status", Lifecycle, Lifecycle.ACTIVE) or Lifecycle.ACTIVE
    parents, parents_known = _parents(fields)
    build = read_build(fields, files)
    load_read, (profile, leave_out) = read_load(fields), _schema(fields)
    every = _profile_every(fields)
    identity = _location_and_ids(fields)
    columns = read_columns(fields, optional=isinstance(build, Pending))
    load, label = load_read.whole, str(name or "this dataset")
    rules = read_rules(fields, label, columns, load, macros or Macros())
    if findings.count > before or name is None or build is None or load is None:
        _check_load(fields, label, load_read, columns, has_target=bool(identity["target"]))
        if isinstance(build, FromSql):
            for error in sql_errors(build, parents if parents_known else None):
                findings.add(error)
        return None
    return DatasetDefinition(
        dataset=name,
        renamed_from=renamed_from,
        domain=domain or "",
        owner=owner or "",
        description=description,
        active=active,
        status=status,
        parents=parents,
        build=build,
        load=load,
        profile=profile,
        leave_out=leave_out,
        profile_every=every,
        columns=columns.columns,
        rules=rules,
        **identity,
    )


def _location_and_ids(fields: Fields) -> dict[str, Any]:
    return {
        "target": fields.word("target", "") or None,
        "location": fields.text("location", limit=LONGEST_PLACE) or "",
        "details": read_details(fields, "details"),
        "external_id": fields.text("external_id") or "",
    }


def _check_load(
    fields: Fields, dataset: str, read: LoadRead, columns: ColumnsRead, *, has_target: bool
) -> None:
    """Report errors of the load even if the rest of the dataset cannot be read."""
    if read.load is None:
        return
    declared = tuple(Column(name=column.name, type=column.type) for column in columns.columns)
    schema = TableSchema(columns=declared) if columns.complete else None
    context = LoadContext(dataset, read.load, schema, has_target, read.unread)
    for error in load_errors(context, fields.document.locate):
        fields.add(error)


def _name(fields: Fields, key: str, *, required: bool = True) -> DatasetName | None:
    scalar = fields.scalar(key, required=required)
    return None if scalar is None else fields.as_dataset(scalar, key)


def _parents(fields: Fields) -> tuple[tuple[DatasetName, ...], bool]:
    """The parents, and whether all could be read."""
    before = fields.findings.count
    found = [fields.as_dataset(node, "parents") for node in fields.items("parents")]
    known = fields.findings.count == before and "parents" not in fields.misspelt
    return tuple(parent for parent in found if parent is not None), known


def _schema(fields: Fields) -> tuple[str, tuple[str, ...]]:
    """The schema profile (any case, default if absent) and the columns left out."""
    block = fields.block_at("schema", "{profile: BACKWARD}")
    if block is None:
        return DEFAULT_PROFILE, ()
    schema = Fields(fields.document, block, fields.findings, SCHEMA_KEYS)
    names = []
    for node in schema.items("leave_out"):
        if isinstance(node, Scalar):
            names.append(node.value)
        else:
            schema.wrong(node, "leave_out", "write column names")
    return _profile(schema, required=not names), tuple(names)


def _profile_every(fields: Fields) -> str:
    """How often profiles are taken; empty if not set."""
    block = fields.block_at("profile", "{every: version}")
    if block is None:
        return ""
    profile = Fields(fields.document, block, fields.findings, PROFILE_KEYS)
    scalar = profile.scalar("every", required=True)
    if scalar is None:
        return ""
    if scalar.value and re.fullmatch(PROFILE_EVERY, scalar.value):
        return scalar.value
    profile.wrong(scalar, "every", EVERY)
    return ""


def _profile(schema: Fields, *, required: bool) -> str:
    scalar = schema.scalar("profile", required=required)
    if scalar is None:
        return DEFAULT_PROFILE
    try:
        return check_word(scalar.value.lower())
    except BadName:
        schema.add(
            BadDefinitionName(schema.document.place(scalar), name=scalar.value[:LONGEST_TEXT])
        )
        return DEFAULT_PROFILE

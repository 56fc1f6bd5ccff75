"""Approves a live schema by declaring its differences in the definition."""

from __future__ import annotations

from collections.abc import Collection

from lakeguard_sdk.model.definitions import ColumnDefinition, DatasetDefinition
from lakeguard_sdk.model.read_models import ClassedDifference
from lakeguard_sdk.model.schema_changes import ColumnOrigin, Reaction, SchemaChange
from lakeguard_sdk.types.schema import Column, TableSchema

_GONE = (SchemaChange.DROP_NULLABLE, SchemaChange.DROP_REQUIRED)
_NAMES = (SchemaChange.RENAME, SchemaChange.CASE_RENAME)
_NOTHING_TO_DECLARE = (SchemaChange.REORDER, SchemaChange.COMMENT, SchemaChange.TAG)


def declarable(
    listed: Collection[ClassedDifference], of_file: Collection[ClassedDifference]
) -> list[ClassedDifference]:
    """Differences that can be declared: all of the diff, then drifted columns that are already in
    the table but not in the file."""
    known = {item.column for item in listed} | {item.other for item in listed}
    found = [*listed, *(item for item in of_file if item.column not in known)]
    return [item for item in found if item.column and item.change not in _NOTHING_TO_DECLARE]


def left_to_profile(item: ClassedDifference, profile: str) -> bool:
    """Whether the profile accepts a missing column, which the table then fills with NULL."""
    return item.change in _GONE and item.reactions[profile] is Reaction.ACCEPT


def approved_definition(
    definition: DatasetDefinition, live: TableSchema, found: Collection[ClassedDifference]
) -> DatasetDefinition:
    """The definition with these differences and all drift declared.

    Missing columns are removed; renamed columns keep their other properties.
    """
    live_columns = {column.name: column for column in live.columns}
    columns = []
    for column in definition.columns:
        own = [item for item in found if _is_of(item, column.name)]
        columns += _declared(column, own, live_columns)
    known = {column.name for column in columns}
    new = {item.other or item.column for item in found} - known
    columns += [_added(column) for column in live.columns if column.name in new]
    return definition.model_copy(update={"columns": tuple(columns)})


def _declared(
    column: ColumnDefinition, own: list[ClassedDifference], live: dict[str, Column]
) -> list[ColumnDefinition]:
    if not own:
        return [column]
    name = next((item.other for item in own if item.other), column.name)
    now = live.get(name)
    if now is None:
        return []
    typed = any(item.found and item.change not in _NAMES for item in own)
    changes = {
        "name": name,
        "type": now.type if typed else column.type,
        "nullable": _nullable(column, own),
        "origin": ColumnOrigin.DECLARED,
        "widened_from": "",
    }
    return [column.model_copy(update=changes)]


def _nullable(column: ColumnDefinition, own: list[ClassedDifference]) -> bool:
    changes = {item.change for item in own}
    if SchemaChange.RELAX_NULLABILITY in changes:
        return True
    return column.nullable and SchemaChange.TIGHTEN_NULLABILITY not in changes


def _added(column: Column) -> ColumnDefinition:
    return ColumnDefinition(
        name=column.name, type=column.type, nullable=column.nullable is not False
    )


def _is_of(item: ClassedDifference, column: str) -> bool:
    return item.column == column or item.column.startswith((f"{column}.", f"{column}["))

"""Columns that came with the data: in the table, and in no file of definitions.

They are the table's until a person declares them, or says that the dataset leaves them out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lakeguard.registry.kinds import hash_of
from lakeguard.registry.snapshot import RegistryState
from lakeguard_sdk.model.definitions import ColumnDefinition, DatasetDefinition, Definitions
from lakeguard_sdk.model.run import SchemaReaction
from lakeguard_sdk.model.schema_changes import ColumnOrigin, Reaction, SchemaChange
from lakeguard_sdk.types.schema import TableSchema


def keeping_drift(definitions: Definitions, current: RegistryState) -> Definitions:
    """The definitions, where datasets keep what drifted into the registered ones."""
    entries = {
        dataset.dataset: entry
        for dataset in definitions.datasets
        if (entry := current.superseded(dataset)) is not None
        and entry.definition_hash != hash_of(dataset)
    }
    opened = current.open_all(entries.values())
    kept = []
    for dataset in definitions.datasets:
        entry = entries.get(dataset.dataset)
        before = opened[entry.kind, entry.name].definition if entry else None
        kept.append(_kept(dataset, before) if isinstance(before, DatasetDefinition) else dataset)
    return definitions.model_copy(update={"datasets": tuple(kept)})


def undrifted(definition: DatasetDefinition, shown: TableSchema) -> DatasetDefinition:
    """The definition without what came with the data and is not in the table as it is shown."""
    columns = tuple(
        _narrowed(column, shown.type_of(column.name))
        for column in definition.columns
        if column.origin is not ColumnOrigin.DRIFT or shown.type_of(column.name) is not None
    )
    return definition.model_copy(update={"columns": columns})


def _narrowed(column: ColumnDefinition, shown: str | None) -> ColumnDefinition:
    """As it was declared, where the table has that type again; what drifted in, as it is there."""
    if column.origin is ColumnOrigin.DRIFT and shown is not None:
        return column.model_copy(update={"type": shown})
    if not column.widened_from or shown is None or shown == column.type:
        return column
    said = "" if shown == column.widened_from else column.widened_from
    return column.model_copy(update={"type": shown, "widened_from": said})


def redrifted(definition: DatasetDefinition, then: DatasetDefinition) -> DatasetDefinition:
    """The definition with what had come with the data by ``then``; what a person wrote counts."""
    return _kept(definition, then)


def renamed_columns(differences: Iterable[SchemaReaction]) -> dict[str, str]:
    """The old name of each column that was accepted as a new name for it."""
    return {
        item.other: item.column
        for item in differences
        if item.change is SchemaChange.RENAME and item.reaction is Reaction.ACCEPT
    }


def drifted(
    definition: DatasetDefinition, found: TableSchema, renamed: Mapping[str, str] | None = None
) -> DatasetDefinition:
    """The definition with the columns and types that a run accepted.

    What is a new name for an old column has the old one's tags: it holds the same values.
    """
    known = {column.name: column for column in definition.columns}
    columns = [_widened(column, found.type_of(column.name)) for column in definition.columns]
    for column in found.columns:
        if column.name not in known:
            before = known.get((renamed or {}).get(column.name, ""))
            tags = before.tags if before else ()
            drift = ColumnOrigin.DRIFT
            columns.append(
                ColumnDefinition(name=column.name, type=column.type, tags=tags, origin=drift)
            )
    return definition.model_copy(update={"columns": tuple(columns)})


def _widened(column: ColumnDefinition, found: str | None) -> ColumnDefinition:
    if found is None or found == column.type:
        return column
    said = "" if column.origin is ColumnOrigin.DRIFT else column.widened_from or column.type
    return column.model_copy(update={"type": found, "widened_from": said})


def _kept(dataset: DatasetDefinition, before: DatasetDefinition) -> DatasetDefinition:
    """What a person wrote counts; where nothing new was written, what drifted does."""
    registered = {column.name: column for column in before.columns}
    columns = [_still_wide(column, registered.get(column.name)) for column in dataset.columns]
    written = {column.name for column in columns} | set(dataset.leave_out)
    columns += [
        column
        for column in before.columns
        if column.origin is ColumnOrigin.DRIFT and column.name not in written
    ]
    return dataset.model_copy(update={"columns": tuple(columns)})


def _still_wide(column: ColumnDefinition, before: ColumnDefinition | None) -> ColumnDefinition:
    if before is None or not before.widened_from or column.type != before.widened_from:
        return column
    return column.model_copy(update={"type": before.type, "widened_from": before.widened_from})

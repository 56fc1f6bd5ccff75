"""Drifted columns: present in the table, but not declared in a definition file.

They stay until somebody declares them or lists them in ``leave_out``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lakeguard.registry.kinds import hash_of
from lakeguard.registry.snapshot import RegistryState
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    FromSource,
)
from lakeguard_sdk.model.run import SchemaReaction
from lakeguard_sdk.model.schema_changes import ColumnOrigin, Reaction, SchemaChange
from lakeguard_sdk.types.schema import TableSchema


def keeping_drift(definitions: Definitions, current: RegistryState) -> Definitions:
    """The definitions with the drifted columns of the registered datasets added."""
    entries = {
        dataset.dataset: entry
        for dataset in definitions.datasets
        if (entry := current.superseded(dataset)) is not None
        and entry.definition_hash != hash_of(dataset)
    }
    opened = current.open_all(entries.values())
    datasets = []
    for dataset in definitions.datasets:
        entry = entries.get(dataset.dataset)
        before = opened[entry.kind, entry.name].definition if entry else None
        if isinstance(before, DatasetDefinition):
            dataset = with_row_settings(_with_drift(dataset, before), before)
        datasets.append(dataset)
    return definitions.model_copy(update={"datasets": tuple(datasets)})


def with_row_settings(dataset: DatasetDefinition, before: DatasetDefinition) -> DatasetDefinition:
    """What only rows say is retained: names and types as the source has them, and rule sets for as
    long as the rules of their columns are the same."""
    from lakeguard.gate.rules.parse import read_rule  # needs all rule types

    registered = {column.name: column for column in before.columns}
    same = {rule.rule_id for rule in before.rules if rule in dataset.rules}
    lost = [rule for rule in before.rules if rule.rule_id not in same]
    changed = {name for rule in lost for name in read_rule(rule.expression).rule.columns}
    columns = tuple(
        _as_given(column, registered.get(column.name), column.name not in changed)
        for column in dataset.columns
    )
    build = dataset.build
    if isinstance(build, FromSource) and isinstance(before.build, FromSource):
        given: dict[str, object] = {
            "dq_enabled": before.build.dq_enabled,
            "dq_fail_behavior": before.build.dq_fail_behavior,
        }
        if build == FromSource(**build.model_dump(exclude=set(given))):
            build = build.model_copy(update=given)
    return dataset.model_copy(update={"columns": columns, "build": build})


def _as_given(
    column: ColumnDefinition, before: ColumnDefinition | None, same_rules: bool
) -> ColumnDefinition:
    if before is None:
        return column
    fields = ["source_name"] + ["source_type"] * (before.type == column.type)
    fields += ["dq_rule_set", "dq_severity"] * same_rules
    given = {name: getattr(before, name) for name in fields if not getattr(column, name)}
    return column.model_copy(update=given) if any(given.values()) else column


def undrifted(definition: DatasetDefinition, shown: TableSchema) -> DatasetDefinition:
    """The definition without drifted columns that the table no longer has."""
    columns = tuple(
        _narrowed(column, shown.type_of(column.name))
        for column in definition.columns
        if column.origin is not ColumnOrigin.DRIFT or shown.type_of(column.name) is not None
    )
    return definition.model_copy(update={"columns": columns})


def _narrowed(column: ColumnDefinition, shown: str | None) -> ColumnDefinition:
    """The column with the table's type; back to the declared type if the table has it again."""
    if column.origin is ColumnOrigin.DRIFT and shown is not None:
        return column.model_copy(update={"type": shown})
    if not column.widened_from or shown is None or shown == column.type:
        return column
    widened_from = "" if shown == column.widened_from else column.widened_from
    return column.model_copy(update={"type": shown, "widened_from": widened_from})


def redrifted(definition: DatasetDefinition, then: DatasetDefinition) -> DatasetDefinition:
    """The definition with the drift of ``then``; declarations take precedence."""
    return _with_drift(definition, then)


def renamed_columns(differences: Iterable[SchemaReaction]) -> dict[str, str]:
    """New to old names of accepted renames."""
    return {
        item.other: item.column
        for item in differences
        if item.change is SchemaChange.RENAME and item.reaction is Reaction.ACCEPT
    }


def drifted(
    definition: DatasetDefinition, found: TableSchema, renamed: Mapping[str, str] | None = None
) -> DatasetDefinition:
    """The definition with the columns and types that a run accepted.

    A renamed column keeps the tags of the old one, because it holds the same values.
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
    widened_from = "" if column.origin is ColumnOrigin.DRIFT else column.widened_from or column.type
    return column.model_copy(update={"type": found, "widened_from": widened_from})


def _with_drift(dataset: DatasetDefinition, before: DatasetDefinition) -> DatasetDefinition:
    """Declarations take precedence over drift."""
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

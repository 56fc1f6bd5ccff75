"""What changed between two revisions of a definition, beside the names and types of columns."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.gate.schema_changes import Difference
from lakeguard_sdk.definition import ColumnDefinition, DatasetDefinition
from lakeguard_sdk.schema_words import SchemaChange


def revised_differences(
    before: DatasetDefinition, after: DatasetDefinition, *, rebuilt: bool
) -> Iterator[Difference]:
    """Keys, partitions, descriptions and tags; a table that is ``rebuilt`` takes any keys."""
    old, new = before.load, after.load
    if not rebuilt and old.keys and new.keys and set(old.keys) != set(new.keys):
        yield _listed(SchemaChange.KEY_CHANGE, old.keys, new.keys)
    if old.partition_by != new.partition_by:
        yield _listed(SchemaChange.PARTITION_CHANGE, old.partition_by, new.partition_by)
    known = {column.name: column for column in before.columns}
    for column in after.columns:
        if column.name in known:
            yield from _notes(known[column.name], column)


def _notes(old: ColumnDefinition, new: ColumnDefinition) -> Iterator[Difference]:
    if old.description != new.description:
        yield Difference(new.name, SchemaChange.COMMENT, new.description, old.description)
    if set(old.tags) != set(new.tags):
        said = ", ".join(sorted(new.tags)), ", ".join(sorted(old.tags))
        yield Difference(new.name, SchemaChange.TAG, *said)


def _listed(change: SchemaChange, old: tuple[str, ...], new: tuple[str, ...]) -> Difference:
    return Difference("", change, ", ".join(new), ", ".join(old))

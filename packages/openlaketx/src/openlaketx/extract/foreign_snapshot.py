"""A Delta table of others at its newest version: columns, files and the values of partitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from lakeguard_sdk.errors import SourceUnreadable
from lakeguard_sdk.evidence import SourceFile
from lakeguard_sdk.run import SourceBuild
from lakeguard_sdk.schema import TableSchema
from openlaketx.engine.delta_table import live_files, open_table, schema_of
from openlaketx.extract.batch import name_problem

_READER_FEATURES = frozenset({"timestampNtz"})
"""Features of a table that leave its files to say what they say."""


@dataclass(frozen=True)
class ForeignSnapshot:
    """One version: its columns, its files by their path below its root."""

    build: SourceBuild
    dataset: str
    location: str
    live: TableSchema
    partitions: tuple[str, ...]
    values: dict[str, dict[str, Any]]
    """What each file's partition says, by path and column."""
    files: dict[str, SourceFile]

    def unreadable(self, why: str) -> SourceUnreadable:
        return _unreadable(self.build, self.dataset, why)


def _unreadable(build: SourceBuild, dataset: str, why: str) -> SourceUnreadable:
    return SourceUnreadable(source=build.source, reason=f"{build.path}: {why}", dataset=dataset)


def open_snapshot(build: SourceBuild, dataset: str, location: str) -> ForeignSnapshot:
    try:
        found = open_table(location)
        live = _with_nullability(schema_of(found), found)
        names = live_files(found)
    except (DeltaError, TableNotFoundError, ValueError) as error:
        told = next(iter(str(error).splitlines()), type(error).__name__)
        raise _unreadable(build, dataset, told) from None
    problem = _reading_problem(found) or name_problem(live.names)
    if build.options:
        problem = f"a Delta table has no option {min(build.options)!r}"
    if any("://" in path or path.startswith("/") for path in names):
        problem = "some of its files lie outside of it"
    if problem:
        raise _unreadable(build, dataset, problem)
    files = {
        path: SourceFile(path=path, size=file.size, modified_ms=0) for path, file in names.items()
    }
    partitions = tuple(found.metadata().partition_columns)
    values = _partition_values(found, partitions)
    return ForeignSnapshot(build, dataset, location, live, partitions, values, files)


def _with_nullability(live: TableSchema, table: DeltaTable) -> TableSchema:
    """What the table says of NULL is part of its schema."""
    told = {field.name: field.nullable for field in table.schema().fields}
    columns = [column.model_copy(update={"nullable": told[column.name]}) for column in live.columns]
    return TableSchema(columns=tuple(columns))


def _partition_values(table: DeltaTable, names: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    actions = table.get_add_actions(flatten=True)
    paths = [unquote(path) for path in actions["path"].to_pylist()]
    columns = {name: actions[f"partition.{name}"].to_pylist() for name in names}
    return {
        path: {name: values[index] for name, values in columns.items()}
        for index, path in enumerate(paths)
    }


def _reading_problem(table: DeltaTable) -> str | None:
    """What in the table changes the meaning of its files; None where nothing does."""
    protocol = table.protocol()
    features = set(protocol.reader_features or ()) - _READER_FEATURES
    if features:
        return f"it uses {', '.join(sorted(features))}"
    if protocol.min_reader_version not in (1, 2, 3):
        return f"it needs reader {protocol.min_reader_version}"
    mapping = table.metadata().configuration.get("delta.columnMapping.mode", "none")
    return None if mapping == "none" else "it uses columnMapping"

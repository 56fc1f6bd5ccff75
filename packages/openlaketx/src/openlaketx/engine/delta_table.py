"""Delta tables without Spark: files, schema and protocol."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple
from urllib.parse import unquote

from deltalake import DeltaTable, Schema
from deltalake.exceptions import DeltaError

from lakeguard_sdk.model.delta_log import PUBLISH_APP, read_commit, written_whole
from lakeguard_sdk.storage.storage import storage_for, storage_options, table_uri
from lakeguard_sdk.storage.store_errors import store_failure
from lakeguard_sdk.types.schema import TableSchema

KNOWN_FEATURES = frozenset({"appendOnly", "invariants", "timestampNtz"})
"""Features a governed table may use: none changes the meaning of data files."""


Values = Mapping[str, Mapping[str, str | None]]
"""Partition values as text in the log, by relative file path and column."""


class LiveFile(NamedTuple):
    """A file of a snapshot: path relative to the table's root, bytes and rows."""

    path: str
    size: int
    rows: int | None


def open_table(location: str, version: int | None = None) -> DeltaTable:
    """A new handle. Handles do not follow the table, so they are never cached.

    Raises ``StoreUnavailable`` if the object store was, and says nothing about the table then.
    """
    uri, options = table_uri(location), storage_options(location)
    try:
        return DeltaTable(uri, version=version, storage_options=options)
    except OSError as error:
        raise store_failure(error, location) or error from None


def is_governed(location: str) -> bool:
    """Whether the table has commits of LakeGuard, of this lake or another."""
    try:
        return open_table(location).transaction_version(PUBLISH_APP) is not None
    except DeltaError:  # a damaged log; who created the table can still be read
        first = read_commit(storage_for(location), location, 0)
        return first is not None and first.author is not None


def live_files(table: DeltaTable) -> dict[str, LiveFile]:
    """The files of the handle's version, by relative path."""
    actions = table.get_add_actions(flatten=True)
    columns = [actions[name].to_pylist() for name in ("path", "size_bytes", "num_records")]
    paths = decoded(columns[0])
    files = map(LiveFile._make, zip(paths, *columns[1:], strict=True))
    return dict(zip(paths, files, strict=True))


def live_paths(table: DeltaTable) -> set[str]:
    """The files of the handle's version, by relative path."""
    return set(decoded(table.get_add_actions(flatten=True)["path"].to_pylist()))


def decoded(paths: Iterable[str]) -> list[str]:
    """URL-decoded paths of a log. Most are not encoded, and tables may have very many."""
    return [unquote(path) if "%" in path else path for path in paths]


def partition_texts(table: DeltaTable) -> dict[str, dict[str, str | None]]:
    """Partition values of all files, by relative path, as encoded in the log."""
    names = table.metadata().partition_columns
    actions = table.get_add_actions(flatten=True)
    paths = [unquote(path) for path in actions["path"].to_pylist()]
    columns = {name: actions[f"partition.{name}"].to_pylist() for name in names}
    return {
        path: {name: _partition_text(values[index]) for name, values in columns.items()}
        for index, path in enumerate(paths)
    }


def _partition_text(value: object) -> str | None:
    """Every type that may partition a table has one text form."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


def left_to_log(table: DeltaTable, paths: Collection[str]) -> Values:
    """Partition values from the log, for those of the paths that may lack the columns."""
    if not table.metadata().partition_columns or all(map(written_whole, paths)):
        return {}
    texts = partition_texts(table)
    return {path: texts[path] for path in paths if path in texts and not written_whole(path)}


def schema_of(table: DeltaTable) -> TableSchema:
    """The table's columns; ValueError for an unsupported type."""
    return TableSchema.from_delta_json(table.schema().to_json())


def delta_schema(schema: TableSchema) -> Schema:
    return Schema.from_json(schema.delta_json())


def protocol_problem(table: DeltaTable) -> str | None:
    """Why this engine cannot write the table's protocol, or None."""
    protocol = table.protocol()
    unknown = _unknown(protocol.reader_features) | _unknown(protocol.writer_features)
    if unknown:
        return f"it uses {', '.join(sorted(unknown))}"
    if protocol.min_reader_version not in (1, 3) or protocol.min_writer_version not in (1, 2, 7):
        return (
            f"it needs reader {protocol.min_reader_version}"
            f" and writer {protocol.min_writer_version}"
        )
    return None


def _unknown(features: Iterable[str] | None) -> set[str]:
    return set(features or ()) - KNOWN_FEATURES

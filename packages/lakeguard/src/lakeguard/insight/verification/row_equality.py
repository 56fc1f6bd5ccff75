"""Whether a foreign commit left the rows unchanged, by comparing them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from lakeguard.lake.table_view import ShownFile
from lakeguard_sdk.model.delta_log import TABLE_PROPERTIES, log_file
from lakeguard_sdk.storage.storage import join, readable_file, storage_for

_SAME_TABLE = ("id", "schemaString", "partitionColumns", "format")


Files = Mapping[str, Mapping[str, str | None]]
"""Paths with their partitions."""


class RowSum(NamedTuple):
    """A digest of rows, independent of order and files."""

    rows: int
    hashes: int


def why_not_neutral(
    location: str, version: int, data: bytes, shown: Mapping[str, ShownFile]
) -> str | None:
    """Why the commit may change the rows of ``shown``; None if it cannot.

    The partition of a removed file is the one it was added with.
    """
    actions = _actions(data)
    if "protocol" in actions or "cdc" in actions:
        return "it changes the protocol or carries change data"
    for metadata in actions.get("metaData", []):
        if why := _other_table(location, version, metadata):
            return why
    adds, removes = actions.get("add", []), actions.get("remove", [])
    if any(action.get("dataChange") is not False for action in (*adds, *removes)):
        return "it says itself that it changes data"
    if any(action.get("deletionVector") for action in (*adds, *removes)):
        return "it deletes rows within files"
    paths = {unquote(action["path"]) for action in removes}
    if not paths <= shown.keys() or shown.keys() & {unquote(action["path"]) for action in adds}:
        return "it removes files that were not shown, or adds those that were"
    before = {path: shown[path].partition for path in paths}
    after = {unquote(add["path"]): add.get("partitionValues") or {} for add in adds}
    return _other_rows(location, before, after)


def _other_rows(location: str, removes: Files, adds: Files) -> str | None:
    try:
        names = _names(location, (*removes, *adds))
        before, after = _sum(location, removes, names), _sum(location, adds, names)
    except (OSError, pa.ArrowException, ValueError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        return f"its rows cannot be compared: {reason}"
    if before.rows != after.rows:
        return f"expected {before.rows:,} rows, found {after.rows:,}"
    return None if before == after else f"expected the same {before.rows:,} rows, found others"


def _names(location: str, paths: Iterable[str]) -> frozenset[str]:
    """All columns of all files; missing ones are NULL."""
    files = (readable_file(join(location, path)) for path in paths)
    return frozenset(name for file in files for name in pq.read_schema(file).names)


def _sum(location: str, files: Files, names: frozenset[str]) -> RowSum:
    rows = hashes = 0
    for path, values in files.items():
        file = readable_file(join(location, path))
        for batch in pq.ParquetFile(file).iter_batches():
            rows += batch.num_rows
            hashes += _hashes(batch, values, sorted(names - set(values)))
    return RowSum(rows, hashes % 2**256)


def _hashes(
    batch: pa.RecordBatch, partition: Mapping[str, str | None], names: Sequence[str]
) -> int:
    before = repr((names, sorted(partition.items()))).encode()
    held = set(batch.schema.names)
    nothing = [None] * batch.num_rows
    columns = [batch.column(name).to_pylist() if name in held else nothing for name in names]
    sha256, from_bytes = hashlib.sha256, int.from_bytes
    return sum(
        from_bytes(sha256(before + repr(row).encode()).digest(), "big")
        for row in zip(*columns, strict=True)
    )


def _other_table(location: str, version: int, metadata: dict[str, Any]) -> str | None:
    before = _metadata_before(location, version)
    if before is None or any(before.get(key) != metadata.get(key) for key in _SAME_TABLE):
        return "it changes the table's columns, partitions or id"
    known, properties = before.get("configuration") or {}, metadata.get("configuration") or {}
    expected = {**known, **TABLE_PROPERTIES}
    changed = sorted(
        key
        for key in expected.keys() | properties.keys()
        if expected.get(key) != properties.get(key) and _has_effect(key)
    )
    return f"it changes the property {changed[0]}" if changed else None


def _has_effect(name: str) -> bool:
    """Whether a property changes more than which columns have statistics."""
    return name.startswith("delta.") and not name.startswith("delta.dataSkipping")


def _metadata_before(location: str, version: int) -> dict[str, Any] | None:
    storage = storage_for(location)
    for earlier in range(version - 1, -1, -1):
        found = _actions(storage.read_bytes(log_file(location, earlier))).get("metaData")
        if found:
            return found[-1]
    return None


def _actions(data: bytes) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for line in data.split(b"\n"):
        if line.strip():
            for kind, body in json.loads(line).items():
                found.setdefault(kind, []).append(body)
    return found

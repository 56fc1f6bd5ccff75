"""A table as readers see it, through log and checkpoint."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from lakeguard_sdk.errors import TableUnreadable
from lakeguard_sdk.model.delta_log import TABLE_PROPERTIES
from lakeguard_sdk.storage.storage import local_path

Columns = frozenset[tuple[str, str]]

_OWN = "modification_time"
_FEATURES = frozenset({"timestampNtz"})
"""Allowed reader features: types, but none that hides rows."""


class ShownFile(NamedTuple):
    """Everything a reader takes from the log about a file."""

    path: str
    size: int
    stats: str
    partition: Mapping[str, str | None]


@dataclass(frozen=True)
class Shown:
    """A table's head."""

    version: int
    files: pa.Table
    """Files by path, as delta-rs reads them."""
    columns: Columns
    partition_by: tuple[str, ...]
    keeps_properties: bool
    plain: bool
    """Whether no feature lets files show other rows than they hold."""

    @property
    def paths(self) -> set[str]:
        return set(self.files["path"].to_pylist())


def read_head(location: str) -> Shown:
    """Raises ``TableUnreadable``."""
    try:
        handle = DeltaTable(local_path(location))
        metadata, protocol = handle.metadata(), handle.protocol()
        features = frozenset(protocol.reader_features or ())
        return Shown(
            version=handle.version(),
            files=_files(handle),
            columns=columns_of(handle.schema().to_json()),
            partition_by=tuple(metadata.partition_columns),
            keeps_properties=TABLE_PROPERTIES.items() <= metadata.configuration.items(),
            plain=protocol.min_reader_version == 1 or features <= _FEATURES,
        )
    except (DeltaError, OSError, ValueError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise TableUnreadable(dataset=location, location=location, reason=reason) from error


def as_shown(schema: str, partition_by: Iterable[str], files: Iterable[ShownFile]) -> pa.Table:
    """What a reader would see of a table with this schema and these files."""
    needs = {"timestampNtz"} if '"timestamp_ntz"' in schema else set()
    actions: list[dict[str, Any]] = [
        {"protocol": _protocol(sorted(needs))},
        {
            "metaData": {
                "id": "expected",
                "format": {"provider": "parquet", "options": {}},
                "schemaString": schema,
                "partitionColumns": list(partition_by),
                "configuration": {},
            }
        },
        *({"add": _add(file)} for file in files),
    ]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "_delta_log")
        log.mkdir()
        lines = (json.dumps(action, ensure_ascii=False) for action in actions)
        (log / f"{0:020d}.json").write_text("\n".join(lines), "utf-8")
        return _files(DeltaTable(folder))


def differing(expected: pa.Table, found: pa.Table) -> tuple[list[str], list[str]]:
    """Files that differ, and how. Statistics absent from every file are ignored: how many columns
    have them is a table setting."""
    paths, names = set[str](), []
    for name in sorted(set(found.column_names) - {_OWN}):
        other = found[name]
        known = name in expected.column_names
        mine = expected[name].cast(other.type) if known else pa.nulls(len(other), other.type)
        same = pc.fill_null(pc.equal(mine, other), False)
        unlike = pc.invert(pc.or_(same, pc.and_(pc.is_null(mine), pc.is_null(other))))
        if pc.any(unlike).as_py():
            paths |= set(found["path"].filter(unlike).to_pylist())
            names.append(name)
    return sorted(paths), names


def columns_of(schema: str) -> Columns:
    """Column names and types; engines may differ in key order and spelling. Empty for an invalid
    schema."""
    try:
        fields = json.loads(schema)["fields"]
        return frozenset(
            (field["name"], json.dumps(field["type"], sort_keys=True)) for field in fields
        )
    except (ValueError, KeyError, TypeError):
        return frozenset()


def _files(handle: DeltaTable) -> pa.Table:
    found = pa.table(handle.get_add_actions(flatten=True))
    paths = pa.array(map(unquote, found["path"].to_pylist()), pa.string())
    return found.set_column(0, "path", paths).sort_by("path")


def _add(file: ShownFile) -> dict[str, Any]:
    return {
        "path": quote(file.path),
        "size": file.size,
        "partitionValues": dict(file.partition),
        "modificationTime": 0,
        "dataChange": True,
        **({"stats": file.stats} if file.stats else {}),
    }


def _protocol(features: list[str]) -> dict[str, Any]:
    if not features:
        return {"minReaderVersion": 1, "minWriterVersion": 2}
    versions = {"minReaderVersion": 3, "minWriterVersion": 7}
    return {**versions, "readerFeatures": features, "writerFeatures": features}

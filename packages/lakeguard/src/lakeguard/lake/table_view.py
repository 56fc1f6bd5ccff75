"""A table as readers see it, through log and checkpoint, and how that differs from its record."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from lakeguard_sdk.errors import LakeGuardError, TableUnreadable
from lakeguard_sdk.model.delta_log import TABLE_PROPERTIES, engine_reason
from lakeguard_sdk.storage.storage import storage_options, table_uri
from lakeguard_sdk.storage.store_errors import store_failure

Columns = frozenset[tuple[str, str]]

LOG_ERRORS = (DeltaError, OSError, ValueError, KeyError, TypeError, pa.ArrowException)
"""What reading a log raises that contradicts itself."""
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
    """A version of a table."""

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


def open_table(location: str, version: int | None = None) -> DeltaTable:
    """A new handle. Handles do not follow the table, so they are never cached.

    Raises ``StoreUnavailable`` if the object store was, and says nothing about the table then.
    """
    uri, options = table_uri(location), storage_options(location)
    try:
        return DeltaTable(uri, version=version, storage_options=options)
    except OSError as error:
        raise store_failure(error, location) or error from None


def read_view(location: str, version: int | None = None) -> Shown:
    """The head, or a version; raises ``TableUnreadable``."""
    try:
        handle = open_table(location, version)
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
    except LOG_ERRORS as error:
        raise unreadable(location, error) from error


def unreadable(location: str, error: Exception) -> LakeGuardError:
    """``TableUnreadable``, unless the object store was unavailable: that is no damage."""
    if (known := store_failure(error, location)) is not None:
        return known
    reason = engine_reason(error)
    if isinstance(error, KeyError):
        reason = f"its log contradicts itself about {reason}"
    return TableUnreadable(dataset=location, location=location, reason=reason)


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


class Approved(NamedTuple):
    """What a version of a table must show."""

    files: Mapping[str, ShownFile]
    schema: str
    """In Delta's JSON; empty if it is not known."""
    partition_by: tuple[str, ...] | None
    """None before the first version."""


def differences(found: Shown, approved: Approved) -> Iterator[str]:
    """How a table differs for its readers from what was approved."""
    if not found.plain:
        yield "the table asks its readers for a feature that can hide rows"
    files = files_difference(found.paths, approved.files.keys())
    if files is not None:
        yield files
    elif approved.partition_by is not None and approved.schema:
        yield from _content_differences(found, approved, approved.partition_by)


def files_difference(found: Set[str], approved: Set[str]) -> str | None:
    more, less = sorted(found - approved), sorted(approved - found)
    if not more and not less:
        return None
    shows = f"shows {_files_named(more)} without a record" if more else ""
    lacks = f"lacks {_files_named(less)}" if less else ""
    return f"the table {' and '.join(filter(None, (lacks, shows)))}"


def _files_named(paths: list[str]) -> str:
    return f"{len(paths):,} files, such as {paths[0]}" if len(paths) > 1 else f"file {paths[0]}"


def _content_differences(
    found: Shown, approved: Approved, partition_by: tuple[str, ...]
) -> Iterator[str]:
    expected = columns_of(approved.schema)
    if found.columns != expected:
        yield f"the table shows {columns_difference(expected, found.columns)}"
    elif found.partition_by != partition_by:
        yield f"the table shows {partition_difference(partition_by, found.partition_by)}"
    else:
        shown = as_shown(approved.schema, partition_by, approved.files.values())
        paths, names = differing(shown, found.files)
        if paths:
            yield (
                f"the table says of {len(paths)} files another {', '.join(names[:3])} than was"
                f" approved, such as of {paths[0]}"
            )


def columns_difference(expected: Columns, found: Columns) -> str:
    lost, new = (
        [f"{name} {kind}" for name, kind in sorted(c)] for c in (expected - found, found - expected)
    )
    return f"other columns than were approved: expected {', '.join(lost)}, found {', '.join(new)}"


def partition_difference(expected: Iterable[str], found: Iterable[str]) -> str:
    return f"partitions by ({', '.join(found)}), approved were ({', '.join(expected)})"


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

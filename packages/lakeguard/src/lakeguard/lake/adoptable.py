"""Whether a table of anybody's making can be governed; what cannot is refused by name.

Refused is what our commits would not keep, what a Parquet file alone does not tell, and what
delta-rs does not write. The table is only read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa

from lakeguard.lake.features import COPY, Obstacle, obstacles
from lakeguard.lake.raw_log import LogGap, RawTable, read_log
from lakeguard_sdk.adoption import AdoptableTable
from lakeguard_sdk.commits import STAGING, CommittedFile
from lakeguard_sdk.errors import NotAdoptable
from lakeguard_sdk.partitions import partition_difference, partition_problem
from lakeguard_sdk.schema import TableSchema
from lakeguard_sdk.storage import join, storage_for

_REWRITE = "rewrite its files: OPTIMIZE …, or INSERT OVERWRITE TABLE … SELECT * FROM …"


class _Metadata(NamedTuple):
    table_id: str
    schema: TableSchema
    partition_by: tuple[str, ...]


def examine(location: str, version: int | None = None) -> AdoptableTable:
    """The table as it is now, or at a version; ``NotAdoptable`` with the way out where it must
    stay as it is."""
    if not storage_for(location).exists(join(location, "_delta_log")):
        raise _refused(location, Obstacle("it is no Delta table", "lakeguard source add NAME PATH"))
    try:
        raw = read_log(location, version)
    except (LogGap, ValueError, KeyError, OSError, pa.ArrowException) as error:
        raise _refused(
            location, Obstacle(f"its log is not readable: {_line(error)}", COPY)
        ) from None
    for obstacle in obstacles(raw):
        raise _refused(location, obstacle)
    metadata = _metadata(location, raw)
    for obstacle in _in_files(location, raw.files, metadata):
        raise _refused(location, obstacle)
    return AdoptableTable(
        location=location,
        table_id=metadata.table_id,
        commit=raw.version,
        table_schema=metadata.schema,
        partition_by=metadata.partition_by,
        files=raw.files,
        rows=sum(int(told_rows(file) or 0) for file in raw.files),
        seq=raw.seq,
    )


def told_rows(file: CommittedFile) -> int | None:
    """How many rows the log says that a file has."""
    try:
        told = json.loads(file.stats).get("numRecords")
    except (ValueError, AttributeError):
        return None
    return told if isinstance(told, int) else None


def _metadata(location: str, raw: RawTable) -> _Metadata:
    try:
        schema = TableSchema.from_delta_json(str(raw.metadata["schemaString"]))
    except ValueError as error:
        raise _refused(location, Obstacle(str(error), COPY)) from None
    partition_by = tuple(str(name) for name in raw.metadata.get("partitionColumns") or ())
    if problem := partition_problem(partition_by, schema):
        raise _refused(location, Obstacle(problem, COPY))
    return _Metadata(str(raw.metadata["id"]), schema, partition_by)


def _in_files(
    location: str, files: tuple[CommittedFile, ...], metadata: _Metadata
) -> Iterator[Obstacle]:
    storage = storage_for(location)
    if storage.exists(join(location, STAGING)) and not _ours(files):
        reason = f"it has a folder {STAGING!r}, which is where runs would write"
        yield Obstacle(reason, f"move {join(location, STAGING)} away")
    for file in files:
        parts = file.path.split("/")
        if "://" in file.path or file.path.startswith(("/", "file:")) or ".." in parts:
            yield Obstacle(f"some of its files lie outside of it, such as {file.path}", COPY)
        if file.path.startswith(f"{STAGING}/"):
            yield Obstacle(f"{file.path} lies where runs would write", COPY)
        odd = partition_difference(file.partition, metadata.partition_by, metadata.schema)
        if odd is not None:
            yield Obstacle(f"{file.path} is in no partition of ours: {odd}", COPY)
        if told_rows(file) is None:
            yield Obstacle(f"its log does not tell how many rows {file.path} has", _REWRITE)


def _ours(files: tuple[CommittedFile, ...]) -> bool:
    """Such files are refused one by one, each by its own name."""
    return any(file.path.startswith(f"{STAGING}/") for file in files)


def _refused(location: str, obstacle: Obstacle) -> NotAdoptable:
    return NotAdoptable(location=location, reason=obstacle.reason, way_out=obstacle.way_out)


def _line(error: Exception) -> Any:
    return next(iter(str(error).splitlines()), type(error).__name__)

"""Checks whether an existing Delta table can be adopted; every obstacle is named.

Refused: what our commits would not preserve, what a Parquet file alone does not store, and what
delta-rs does not write. The table is only read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from lakeguard_sdk.errors import NotAdoptable
from lakeguard_sdk.model.delta_log import (
    PUBLISH_APP,
    STAGING,
    CommittedFile,
    log_file,
    parse_action,
)
from lakeguard_sdk.model.partitions import partition_difference, partition_problem
from lakeguard_sdk.model.table_operations import AdoptableTable
from lakeguard_sdk.storage.storage import is_below, join, readable_file, storage_for
from lakeguard_sdk.types.schema import RESERVED_PREFIX, TableSchema, is_reserved_column

# Reads a Delta log from its checkpoint and commits.

_COMMIT = re.compile(r"([0-9]{20})\.json")
_CHECKPOINT = re.compile(r"([0-9]{20})\.checkpoint(?:\.([0-9]{10})\.([0-9]{10}))?\.parquet")
_OTHER_CHECKPOINT = re.compile(r"[0-9]{20}\.checkpoint\..+\.(?:parquet|json)")
_ACTIONS = ("add", "metaData", "protocol", "txn")


class LogGap(ValueError):
    """The log lacks something that its last version needs."""


@dataclass
class RawTable:
    """The state that the actions of a log add up to; ``adds`` by path as in the log."""

    version: int = -1
    protocol: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    adds: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    seq: int | None = None
    other_checkpoints: bool = False
    """Whether there are checkpoints in an unsupported format."""

    @property
    def files(self) -> tuple[CommittedFile, ...]:
        return tuple(_file(self.adds[path]) for path in sorted(self.adds))

    def take(self, kind: str, body: Mapping[str, Any]) -> None:
        match kind:
            case "add":
                self.adds[unquote(str(body["path"]))] = body
            case "remove":
                self.adds.pop(unquote(str(body["path"])), None)
            case "protocol":
                self.protocol = body
            case "metaData":
                self.metadata = body
            case "txn" if body.get("appId") == PUBLISH_APP:
                self.seq = int(body["version"])


def _read_log(location: str, version: int | None = None) -> RawTable:
    """The table at a version, by default the last; raises ``LogGap`` if that is not possible."""
    folder = join(location, "_delta_log")
    names = [facts.path.rpartition("/")[2] for facts in storage_for(location).files_under(folder)]
    commits = sorted(int(found[1]) for name in names if (found := _COMMIT.fullmatch(name)))
    if not commits:
        raise LogGap("it has no commits")
    last = commits[-1] if version is None else version
    table = RawTable(
        other_checkpoints=any(
            _OTHER_CHECKPOINT.fullmatch(name) and not _CHECKPOINT.fullmatch(name) for name in names
        )
    )
    start, parts = _checkpoint(names, last)
    for part in parts:
        for kind, body in _checkpointed(join(folder, part)):
            table.take(kind, body)
    for number in range(start + 1, last + 1):
        if number not in commits:
            raise LogGap(f"commit {number} is missing")
        for kind, body in _committed(storage_for(location).read_bytes(log_file(location, number))):
            table.take(kind, body)
    table.version = last
    return table


def _checkpoint(names: list[str], last: int) -> tuple[int, list[str]]:
    """The newest complete checkpoint up to ``last``, with all its parts; -1 if there is none."""
    parts: dict[tuple[int, int], list[str]] = {}
    for name in sorted(names):
        if found := _CHECKPOINT.fullmatch(name):
            parts.setdefault((int(found[1]), int(found[3] or 1)), []).append(name)
    whole = [(key[0], held) for key, held in parts.items() if len(held) == key[1]]
    return max((item for item in whole if item[0] <= last), default=(-1, []))


def _checkpointed(location: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    with pq.ParquetFile(readable_file(location)) as content:
        held = [name for name in _ACTIONS if name in content.schema_arrow.names]
        for batch in content.iter_batches(columns=held):
            for row in pa.Table.from_batches([batch]).to_pylist(maps_as_pydicts="strict"):
                yield from ((kind, body) for kind, body in row.items() if body is not None)


def _committed(data: bytes) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for line in data.split(b"\n"):
        if line.strip():
            yield from parse_action(line).items()


def _file(add: Mapping[str, Any]) -> CommittedFile:
    return CommittedFile(
        path=unquote(str(add["path"])),
        size=int(add["size"]),
        stats=str(add.get("stats") or ""),
        partition=dict(add.get("partitionValues") or {}),
    )


# Delta features that prevent adoption, each with a remedy.

COPY = "copy its rows: CREATE TABLE delta.`…` AS SELECT * FROM …, then adopt the copy"

_KNOWN = frozenset({"appendOnly", "invariants", "timestampNtz"})
"""Features that a governed table may use: none that changes what a file contains."""

_WAYS_OUT = {
    "changeDataFeed": "ALTER TABLE … SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'false'),"
    " then ALTER TABLE … DROP FEATURE changeDataFeed",
    "checkConstraints": (
        "ALTER TABLE … DROP CONSTRAINT …, then ALTER TABLE … DROP FEATURE checkConstraints; "
        "define rules instead"
    ),
    "checkpointProtection": "ALTER TABLE … DROP FEATURE checkpointProtection TRUNCATE HISTORY",
    "columnMapping": "ALTER TABLE … SET TBLPROPERTIES ('delta.columnMapping.mode' = 'none'), then"
    " ALTER TABLE … DROP FEATURE columnMapping",
    "deletionVectors": "ALTER TABLE … SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'false'),"
    " REORG TABLE … APPLY (PURGE), then ALTER TABLE … DROP FEATURE deletionVectors",
}
_PROPERTIES = {
    "delta.appendOnly": "appendOnly",
    "delta.enableChangeDataFeed": "changeDataFeed",
    "delta.enableDeletionVectors": "deletionVectors",
    "delta.enableRowTracking": "rowTracking",
    "delta.enableTypeWidening": "typeWidening",
    "delta.enableInCommitTimestamps": "inCommitTimestamp",
}
_OFF = "ALTER TABLE … SET TBLPROPERTIES ('{property}' = 'false')"
_IN_COLUMNS = {
    "delta.generationExpression": ("generated", COPY),
    "delta.invariants": ("constrained by an invariant", COPY),
    "delta.identity.start": ("an identity column", COPY),
    "CURRENT_DEFAULT": (
        "a column with a default",
        "ALTER TABLE … ALTER COLUMN {column} DROP DEFAULT",
    ),
    "__CHAR_VARCHAR_TYPE_STRING": (
        "limited in length",
        "ALTER TABLE … ALTER COLUMN {column} TYPE STRING",
    ),
}


_RENAME = "copy its rows under other names: CREATE TABLE delta.`…` AS SELECT … FROM …"


class Obstacle(NamedTuple):
    """What prevents adoption, and the remedy."""

    reason: str
    way_out: str


def _obstacles(table: RawTable) -> Iterator[Obstacle]:
    """All obstacles, the most specific first."""
    properties: Mapping[str, str] = table.metadata.get("configuration") or {}
    yield from _in_properties(properties)
    yield from _in_schema(str(table.metadata.get("schemaString") or "{}"))
    yield from _in_protocol(table.protocol)
    if table.other_checkpoints:
        yield Obstacle("it uses v2Checkpoint", COPY)
    for add in table.adds.values():
        if add.get("deletionVector"):
            yield Obstacle("it uses deletionVectors", _WAYS_OUT["deletionVectors"])


def _in_properties(properties: Mapping[str, str]) -> Iterator[Obstacle]:
    for key, value in sorted(properties.items()):
        if key.startswith("delta.constraints."):
            yield Obstacle(
                f"it uses checkConstraints: {key.removeprefix('delta.constraints.')}",
                _WAYS_OUT["checkConstraints"],
            )
        feature = _PROPERTIES.get(key)
        if feature is not None and value.lower() == "true":
            usual = _OFF.format(property=key)
            yield Obstacle(f"it uses {feature}", _WAYS_OUT.get(feature, usual))
    if properties.get("delta.columnMapping.mode", "none") != "none":
        yield Obstacle("it uses columnMapping", _WAYS_OUT["columnMapping"])


def _in_schema(schema: str) -> Iterator[Obstacle]:
    try:
        columns = json.loads(schema).get("fields") or ()
    except (ValueError, AttributeError, RecursionError):
        yield Obstacle("its schema is unreadable", COPY)
        return
    for column in columns:
        name, metadata = str(column["name"]), column.get("metadata") or {}
        if is_reserved_column(name):
            reason = f"its column {name} begins with {RESERVED_PREFIX}, which is reserved"
            yield Obstacle(reason, _RENAME)
        for key, (what, way_out) in _IN_COLUMNS.items():
            if key in metadata:
                yield Obstacle(f"its column {name} is {what}", way_out.format(column=name))
        if not column.get("nullable", True):
            way_out = (
                f"ALTER TABLE … ALTER COLUMN {name} DROP NOT NULL; use a not_null rule instead"
            )
            yield Obstacle(f"its column {name} is NOT NULL, which rules cannot relax", way_out)


def _in_protocol(protocol: Mapping[str, Any]) -> Iterator[Obstacle]:
    features = {*(protocol.get("readerFeatures") or ()), *(protocol.get("writerFeatures") or ())}
    for feature in sorted(features - _KNOWN):
        yield Obstacle(f"it uses {feature}", _WAYS_OUT.get(feature, COPY))
    reader, writer = protocol.get("minReaderVersion"), protocol.get("minWriterVersion")
    if reader not in (1, 3) or writer not in (1, 2, 7):
        yield Obstacle(f"it needs reader version {reader} and writer version {writer}", COPY)


_REWRITE = "rewrite its files: OPTIMIZE …, or INSERT OVERWRITE TABLE … SELECT * FROM …"


class _Metadata(NamedTuple):
    table_id: str
    schema: TableSchema
    partition_by: tuple[str, ...]


def _has_log(location: str) -> bool:
    try:
        return storage_for(location).has_files(join(location, "_delta_log"))
    except OSError as error:  # such as a name that is too long, or a folder that is another's
        raise _refused(location, Obstacle(f"it is unreadable: {_line(error)}", COPY)) from None


def examine(location: str, version: int | None = None) -> AdoptableTable:
    """The table now, or at a version; raises ``NotAdoptable`` with a remedy if it cannot be
    adopted."""
    if not _has_log(location):
        raise _refused(
            location, Obstacle("it is not a Delta table", "lakeguard source add NAME PATH")
        )
    try:
        raw = _read_log(location, version)
    except (LogGap, ValueError, KeyError, OSError, pa.ArrowException) as error:
        raise _refused(location, Obstacle(f"its log is unreadable: {_line(error)}", COPY)) from None
    for obstacle in _obstacles(raw):
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
        rows=sum(int(logged_rows(file) or 0) for file in raw.files),
        seq=raw.seq,
    )


def logged_rows(file: CommittedFile) -> int | None:
    """The row count of a file according to the log."""
    try:
        count = json.loads(file.stats).get("numRecords")
    except (ValueError, AttributeError, RecursionError):
        return None
    return count if isinstance(count, int) else None


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
    if storage.has_files(join(location, STAGING)) and not _ours(files):
        reason = f"it has a folder {STAGING!r}, which runs write to"
        yield Obstacle(reason, f"move {join(location, STAGING)} elsewhere")
    linked = tuple(storage.irregular_under(location))
    for file in files:
        parts, place = file.path.split("/"), join(location, file.path)
        if any(place == link or is_below(place, link) for link in linked):
            reason = f"{file.path} is a link, or has other names, which may be in another table"
            yield Obstacle(reason, COPY)
        if "://" in file.path or file.path.startswith(("/", "file:")) or ".." in parts:
            yield Obstacle(f"some of its files are outside of it, such as {file.path}", COPY)
        if file.path.startswith(f"{STAGING}/"):
            yield Obstacle(f"{file.path} is in a folder that runs write to", COPY)
        odd = partition_difference(file.partition, metadata.partition_by, metadata.schema)
        if odd is not None:
            yield Obstacle(f"{file.path} has an unsupported partition: {odd}", COPY)
        if logged_rows(file) is None:
            yield Obstacle(f"its log has no row count for {file.path}", _REWRITE)


def _ours(files: tuple[CommittedFile, ...]) -> bool:
    """Such files are refused individually."""
    return any(file.path.startswith(f"{STAGING}/") for file in files)


def _refused(location: str, obstacle: Obstacle) -> NotAdoptable:
    return NotAdoptable(location=location, reason=obstacle.reason, way_out=obstacle.way_out)


def _line(error: Exception) -> Any:
    return next(iter(str(error).splitlines()), type(error).__name__)

"""Inputs at their pinned versions, read by file list so that later commits are invisible."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakeguard_sdk.core.enums import CommitKind, LoadType
from lakeguard_sdk.errors import NewRowsUnknown, TableUnreadable
from lakeguard_sdk.model.delta_log import (
    Commit,
    commits_since,
    engine_reason,
    renamed_files,
    written_whole,
)
from lakeguard_sdk.model.run import InputPin, TableSnapshot
from lakeguard_sdk.storage.storage import Storage, join, storage_for
from openlaketx.engine.delta_columns import with_log_columns
from openlaketx.engine.delta_table import (
    Values,
    left_to_log,
    live_files,
    open_table,
    protocol_problem,
)
from openlaketx.engine.file_check import check_files, check_shown
from openlaketx.engine.locations import spark_read_path
from openlaketx.engine.spark.types import spark_schema
from openlaketx.extract.frame_lineage import Reads

AS_WRITTEN = {
    "datetimeRebaseMode": "CORRECTED",
    "int96RebaseMode": "CORRECTED",
    "ignoreCorruptFiles": "false",
    "ignoreMissingFiles": "false",
    "parquet.page.verify-checksum.enabled": "true",
}
"""Read options that no session setting changes. Pages are compared with their checksums."""
_FROM_ANYWHERE = frozenset({LoadType.INCREMENTAL, LoadType.SCD2})
"""Keyed loads: rows that the table already has change nothing."""
_OTHER_LOADS = "load it FULL, or INCREMENTAL with keys"


def files_to_read(pin: InputPin, dataset: str, load: LoadType = LoadType.APPEND) -> list[str]:
    """Locations of the files of the pinned version, or of those added after ``since``, each
    compared with its record.

    If the input lost rows since then, a keyed load reads the whole pinned version; other loads
    fail.
    """
    paths = _paths_to_read(pin, dataset, load)
    snapshot = pin.snapshot
    check_files(pin.input.dataset, snapshot.table_id, snapshot.location, paths)
    return [join(snapshot.location, path) for path in sorted(paths)]


def _paths_to_read(pin: InputPin, dataset: str, load: LoadType) -> set[str]:
    pinned, shown = _paths(pin.snapshot, pin), pin.snapshot
    check_shown(pin.input.dataset, shown.table_id, shown.location, shown.commit, pinned)
    if pin.since is None:
        return pinned
    earlier = _paths(pin.since, pin)
    storage = storage_for(pin.snapshot.location)
    try:
        gained = _gained_files(storage, pin.since, pin.snapshot)
    except ValueError as error:
        raise _damaged(pin, str(error)) from None
    merged = sorted(join(pin.snapshot.location, path) for path in gained.paths - pinned)
    vacuumed = next((file for file in merged if not storage.exists(file)), None)
    if load in _FROM_ANYWHERE and (gained.lost or vacuumed):
        return pinned
    if gained.lost:
        why = f"{pin.input.dataset} lost rows since the version read last"
        way = f"roll {dataset} back to an earlier version, or {_OTHER_LOADS}"
        if earlier and earlier <= gained.gone:
            why += " (all were replaced, as load type FULL does in every run)"
            way = _OTHER_LOADS
        raise NewRowsUnknown(dataset=dataset, reason=why, way=way)
    if vacuumed:
        why = f"new files of {pin.input.dataset} were compacted, and {vacuumed} is gone"
        raise NewRowsUnknown(dataset=dataset, reason=why, way=_OTHER_LOADS)
    return gained.paths


def read_pinned(session: SparkSession, pin: InputPin, files: list[str]) -> DataFrame:
    """Exactly these files, under the input's declared schema; an empty frame for no files.

    Session settings do not change what is read.
    """
    schema = spark_schema(pin.table_schema)
    if not files:
        empty = (F.lit(None).cast(field.dataType).alias(field.name) for field in schema.fields)
        return session.range(0).select(*empty)
    read = session.read.schema(schema).options(**AS_WRITTEN)
    frame = read.parquet(*(spark_read_path(file) for file in files))
    location = pin.snapshot.location
    paths = [file.removeprefix(f"{location.rstrip('/')}/") for file in files]
    values = values_left_to_log(pin, paths)
    return with_log_columns(frame, session, pin.table_schema, location, paths, values)


def values_left_to_log(pin: InputPin, paths: Collection[str]) -> Values:
    """Partition values from the log for files of the pinned version that may lack the columns."""
    if all(map(written_whole, paths)):
        return {}
    return left_to_log(open_table(pin.snapshot.location, pin.snapshot.commit), paths)


def _paths(snapshot: TableSnapshot, pin: InputPin) -> set[str]:
    try:
        table = open_table(snapshot.location, snapshot.commit)
    except (DeltaError, OSError) as error:
        raise _damaged(pin, engine_reason(error)) from None
    _check(table, snapshot, pin)
    return set(live_files(table))


def _check(table: DeltaTable, snapshot: TableSnapshot, pin: InputPin) -> None:
    found = str(table.metadata().id)
    problem = protocol_problem(table)
    if found != snapshot.table_id:
        problem = f"its table id is {found} instead of {snapshot.table_id}"
    if problem:
        raise _damaged(pin, problem)


def _damaged(pin: InputPin, problem: str) -> TableUnreadable:
    """A version that was published can be read, unless somebody changed its log."""
    reason = f"v{pin.input.version} cannot be read: {problem}"
    return TableUnreadable(dataset=pin.input.dataset, location=pin.snapshot.location, reason=reason)


# Files added between two commits, read from the Delta log.


@dataclass
class Gained:
    """Files added since, under their original names; compactions are ignored."""

    paths: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    """Earlier files that were removed, not by a compaction."""
    lost: bool = False
    """Whether earlier rows were removed, or may have been."""


def _gained_files(storage: Storage, since: TableSnapshot, until: TableSnapshot) -> Gained:
    """Replay the log from one commit to the other; ValueError if a commit is missing."""
    gained = Gained(lost=until.commit < since.commit)
    gone = gained.gone
    kinds: set[str] = set()
    last = since.commit
    for commit in commits_since(storage, since.location, since.commit):
        if commit.version > until.commit:
            break
        last = commit.version
        kinds.add(_kind(commit))
        if _kind(commit) != CommitKind.COMPACT:
            names = renamed_files(commit)
            gained.paths = {names.get(path, path) for path in gained.paths}
            removed = set(commit.removes) - names.keys()
            added = set(commit.adds) - set(names.values())
            gone |= removed - gained.paths
            back = gone & added
            gone -= back
            gained.paths = (gained.paths - removed) | (added - back)
    if last < until.commit:
        raise ValueError(f"commit {last + 1} is missing from its log")
    gained.lost = gained.lost or bool(gone) or {CommitKind.COMPACT, CommitKind.RESTORE} <= kinds
    return gained


def _kind(commit: Commit) -> str:
    return commit.author.kind if commit.author else ""


def pinned_frames(
    session: SparkSession,
    pins: Mapping[str, InputPin],
    dataset: str,
    load: LoadType = LoadType.APPEND,
    reads: Reads | None = None,
) -> dict[str, DataFrame] | None:
    """A frame for each input by name; None if no incremental input has new rows. What is read is
    added to ``reads``."""
    files = {name: files_to_read(pin, dataset, load) for name, pin in pins.items()}
    gained = [files[name] for name, pin in pins.items() if pin.since is not None]
    if gained and not any(gained):
        return None
    for name, pin in pins.items():
        if reads is not None:
            reads.add(pin, files[name])
    return {name: read_pinned(session, pin, files[name]) for name, pin in pins.items()}

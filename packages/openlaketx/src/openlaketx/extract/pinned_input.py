"""Inputs at their pinned versions, read by file list: a later commit cannot be seen."""

from __future__ import annotations

from collections.abc import Collection

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError
from pyspark.sql import DataFrame, SparkSession

from lakeguard_sdk.commits import written_whole
from lakeguard_sdk.errors import BuildFailed
from lakeguard_sdk.run import InputPin, TableSnapshot
from lakeguard_sdk.storage import join, storage_for
from lakeguard_sdk.words import LoadType
from openlaketx.engine.delta_table import (
    Values,
    left_to_log,
    live_files,
    open_table,
    protocol_problem,
)
from openlaketx.engine.log_columns import with_log_columns
from openlaketx.engine.places import spark_read_path
from openlaketx.engine.spark_types import spark_schema
from openlaketx.extract.gained_files import gained_files

_AS_WRITTEN = {
    "datetimeRebaseMode": "CORRECTED",
    "int96RebaseMode": "CORRECTED",
    "ignoreCorruptFiles": "false",
    "ignoreMissingFiles": "false",
}
_FROM_ANYWHERE = frozenset({LoadType.INCREMENTAL, LoadType.SCD2})
"""Loads by key: given rows that they have already, they change nothing."""


def files_to_read(pin: InputPin, dataset: str, load: LoadType = LoadType.APPEND) -> list[str]:
    """Locations of the files of the pinned version, or of those it gained after ``since``.

    Where the input lost rows since, it is not known what to add: a load by key reads the pinned
    version whole, any other is refused.
    """
    pinned = _paths(pin.snapshot, pin, dataset)
    if pin.since is None:
        return _located(pin, pinned)
    _paths(pin.since, pin, dataset)
    storage = storage_for(pin.snapshot.location)
    try:
        gained = gained_files(storage, pin.since, pin.snapshot)
    except ValueError as error:
        raise _unreadable(pin, dataset, str(error)) from None
    merged = _located(pin, gained.paths - pinned)
    vacuumed = next((file for file in merged if not storage.exists(file)), None)
    if load in _FROM_ANYWHERE and (gained.lost or vacuumed):
        return _located(pin, pinned)
    if gained.lost:
        raise BuildFailed(
            dataset=dataset,
            reason=f"{pin.input.dataset} lost rows since the version that was read last, so it is"
            f" not known what to append: roll {dataset} back to a version that was built before,"
            " or load it FULL",
        )
    if vacuumed:
        raise BuildFailed(
            dataset=dataset,
            reason=f"what {pin.input.dataset} gained was merged since, and {vacuumed} is gone, so"
            f" it is not known what to append: set load type FULL, then lakeguard run {dataset}",
        )
    return _located(pin, gained.paths)


def read_pinned(session: SparkSession, pin: InputPin, files: list[str]) -> DataFrame:
    """Exactly those files, under the input's declared schema; no file is an empty frame.

    Settings of the session do not change what is read.
    """
    schema = spark_schema(pin.table_schema)
    if not files:
        return session.createDataFrame([], schema)
    read = session.read.schema(schema).options(**_AS_WRITTEN)
    frame = read.parquet(*(spark_read_path(file) for file in files))
    location = pin.snapshot.location
    paths = [file.removeprefix(f"{location.rstrip('/')}/") for file in files]
    values = values_left_to_log(pin, paths)
    return with_log_columns(frame, session, pin.table_schema, location, paths, values)


def values_left_to_log(pin: InputPin, paths: Collection[str]) -> Values:
    """What the log says of partition columns that files of the pinned version may lack."""
    if all(map(written_whole, paths)):
        return {}
    return left_to_log(open_table(pin.snapshot.location, pin.snapshot.commit), paths)


def _paths(snapshot: TableSnapshot, pin: InputPin, dataset: str) -> set[str]:
    try:
        table = open_table(snapshot.location, snapshot.commit)
    except (DeltaError, TableNotFoundError) as error:
        raise _unreadable(pin, dataset, _line(error)) from None
    _check(table, snapshot, pin, dataset)
    return set(live_files(table))


def _check(table: DeltaTable, snapshot: TableSnapshot, pin: InputPin, dataset: str) -> None:
    found = str(table.metadata().id)
    problem = protocol_problem(table)
    if found != snapshot.table_id:
        problem = f"it is table {found} and not {snapshot.table_id}"
    if problem:
        raise BuildFailed(
            dataset=dataset, reason=f"{pin.input.dataset} at {snapshot.location}: {problem}"
        )


def _located(pin: InputPin, paths: set[str]) -> list[str]:
    return [join(pin.snapshot.location, path) for path in sorted(paths)]


def _unreadable(pin: InputPin, dataset: str, why: str) -> BuildFailed:
    return BuildFailed(
        dataset=dataset,
        reason=f"{pin.input.dataset}@v{pin.input.version} is not readable: {why}",
    )


def _line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)

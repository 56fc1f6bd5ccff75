"""An external Delta table at one version, read by file list so that later commits are invisible."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import SourceUnreadable
from lakeguard_sdk.model.evidence import SourceFile, SourcePosition
from lakeguard_sdk.model.load import NEW_ROWS_ONLY
from lakeguard_sdk.model.run import RunPlan, SourceBuild
from lakeguard_sdk.storage.reserved_places import reserved_among, reserved_place
from lakeguard_sdk.storage.source_roots import first_outside
from lakeguard_sdk.storage.storage import join, located, table_uri
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.engine.delta_table import is_governed, live_files, open_table, schema_of
from openlaketx.engine.known_files import KnownFiles
from openlaketx.engine.locations import spark_file_address, spark_read_path
from openlaketx.engine.shown_values import refusal
from openlaketx.engine.spark.errors import SPARK_ERRORS, reason
from openlaketx.engine.spark.types import quoted_name, spark_schema
from openlaketx.extract.batch import Batch, name_problem

_READER_FEATURES = frozenset({"timestampNtz"})
"""Table features that do not change the meaning of data files."""


@dataclass(frozen=True)
class ForeignSnapshot:
    """One version: its columns, and its files by relative path."""

    build: SourceBuild
    dataset: str
    location: str
    live: TableSchema
    partitions: tuple[str, ...]
    values: dict[str, dict[str, Any]]
    """Partition values of each file, by path and column."""
    files: dict[str, SourceFile]

    def unreadable(self, why: str) -> SourceUnreadable:
        return _unreadable(self.build, self.dataset, why)


def _unreadable(build: SourceBuild, dataset: str, why: str) -> SourceUnreadable:
    return SourceUnreadable(source=build.source, reason=f"{build.path}: {why}", dataset=dataset)


def _open_snapshot(build: SourceBuild, dataset: str, location: str, lake: str) -> ForeignSnapshot:
    if reserved := reserved_place(table_uri(location), lake, is_governed):
        raise _unreadable(build, dataset, reserved)
    try:
        found = open_table(location)
        live = _with_nullability(schema_of(found), found)
        names = live_files(found)
    except (DeltaError, TableNotFoundError, ValueError) as error:
        message = next(iter(str(error).splitlines()), type(error).__name__)
        raise _unreadable(build, dataset, message) from None
    problem = _reading_problem(found) or name_problem(live.names)
    if build.options:
        problem = f"unknown Delta option {min(build.options)!r}"
    if any("://" in path or path.startswith("/") for path in names):
        problem = "some of its files are outside its folder"
    places = [table_uri(join(location, path)) for path in names]
    problem = problem or reserved_among(places, lake, is_governed)
    if build.roots and first_outside(places, lake, build.roots):
        problem = problem or "some of its files are links out of source_roots"
    if problem:
        raise _unreadable(build, dataset, problem)
    files = {
        path: SourceFile(path=path, size=file.size, modified_ms=0) for path, file in names.items()
    }
    partitions = tuple(found.metadata().partition_columns)
    values = _partition_values(found, partitions)
    return ForeignSnapshot(build, dataset, location, live, partitions, values, files)


def _with_nullability(live: TableSchema, table: DeltaTable) -> TableSchema:
    """Nullability from the table's schema."""
    nullable = {field.name: field.nullable for field in table.schema().fields}
    columns = [
        column.model_copy(update={"nullable": nullable[column.name]}) for column in live.columns
    ]
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
    """The table feature that changes the meaning of its files; None if there is none."""
    protocol = table.protocol()
    features = set(protocol.reader_features or ()) - _READER_FEATURES
    if features:
        return f"it uses {', '.join(sorted(features))}"
    if protocol.min_reader_version not in (1, 2, 3):
        return f"it needs reader {protocol.min_reader_version}"
    mapping = table.metadata().configuration.get("delta.columnMapping.mode", "none")
    return None if mapping == "none" else "it uses columnMapping"


_FILE, _KNOWN = "lg_file", "lg_known"


def read_delta(
    session: SparkSession,
    build: SourceBuild,
    plan: RunPlan,
    lake: str,
    known: KnownFiles | None,
) -> Batch | None:
    """All rows of the newest version, or those of files that are not ``known``.

    Files are immutable, so a removed file means deleted or rewritten rows: APPEND fails, other
    loads read the rewritten rows again. None if no file is new.
    """
    table = _open_snapshot(build, str(plan.dataset), located(lake, build.path), lake)
    read = known.among(table.files) if known else {}
    lost = known is not None and len(read) < known.position.files
    if plan.load.type is LoadType.APPEND and lost:
        raise table.unreadable(
            "it lost rows since the last read, so it is unknown what to append: load the"
            " dataset FULL, or by key"
        )
    fresh, position = sorted(table.files), _position(table, table.files)
    if plan.window is not None and plan.load.type is LoadType.APPEND:
        fresh, position = sorted(read), _position(table, read)
    elif plan.load.type in NEW_ROWS_ONLY and known is not None:
        new = [path for path in fresh if path not in read]
        if not new:
            return None
        fresh = fresh if plan.load.type is LoadType.PARTITION else new
        gone = (file.key for file in known.every() if file.key not in table.files) if lost else ()
        position = _position(table, new).model_copy(
            update={"since": known.position.version, "gone": tuple(sorted(gone))}
        )
    try:
        frame = _frame(session, table, fresh)
    except SPARK_ERRORS as error:  # a file that is not there, or that Spark cannot name
        raise table.unreadable(reason(error)) from None
    return Batch(
        frame=frame,
        live=table.live,
        inputs=(),
        position=position,
        explain=lambda error: table.unreadable(reason(error)),
        confirm=lambda: None,
    )


def _position(table: ForeignSnapshot, paths: Iterable[str]) -> SourcePosition:
    return SourcePosition(files=tuple(table.files[path] for path in sorted(paths)))


def _frame(session: SparkSession, table: ForeignSnapshot, fresh: list[str]) -> DataFrame:
    """Columns in the table's order; partition columns have the values of the log."""
    inside = tuple(c for c in table.live.columns if c.name not in table.partitions)
    schema = spark_schema(TableSchema(columns=inside))
    if not fresh:
        return session.createDataFrame([], spark_schema(table.live))
    paths = [spark_read_path(join(table.location, path)) for path in fresh]
    frame = session.read.schema(schema).parquet(*paths)
    if not table.partitions:
        return frame
    place = F.regexp_replace(F.col("_metadata.file_path"), "^file:(//)?", "")
    known = F.broadcast(_values(session, table, fresh))
    joined = frame.withColumn(_FILE, place).join(known, _FILE, "left")
    unknown = refusal("no partition values for ", F.col(_FILE))
    return joined.select(
        *(
            F.when(F.col(_KNOWN).isNull(), unknown).otherwise(F.col(quoted_name(name))).alias(name)
            if name in table.partitions
            else quoted_name(name)
            for name in table.live.names
        )
    )


def _values(session: SparkSession, table: ForeignSnapshot, fresh: list[str]) -> DataFrame:
    """Partition values of each file, by the path that Spark reports.

    From the log, because writers encode values in folder names differently.
    """
    columns = [Column(name=name, type=table.live.type_of(name) or "") for name in table.partitions]
    for column in columns:
        if column.type.startswith("timestamp"):
            reason = f"partition column {column.name} is a timestamp of unknown time zone"
            raise table.unreadable(reason)
    own = (Column(name=_FILE, type="string"), Column(name=_KNOWN, type="boolean"))
    rows = [
        (
            spark_file_address(join(table.location, path)),
            True,
            *(table.values[path][name] for name in table.partitions),
        )
        for path in fresh
    ]
    return session.createDataFrame(rows, spark_schema(TableSchema(columns=(*own, *columns))))

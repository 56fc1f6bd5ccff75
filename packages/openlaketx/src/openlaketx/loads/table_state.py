"""The base table of a run: its files, their statistics and rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakeguard_sdk.errors import BaseChanged, TableUnreadable
from lakeguard_sdk.model.delta_log import engine_reason, written_whole
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.storage.storage import below, join
from lakeguard_sdk.types.schema import INTEGERS, Column, TableSchema
from openlaketx.conform.casts import lossless_cast
from openlaketx.engine.delta_columns import with_log_columns
from openlaketx.engine.delta_table import (
    LiveFile,
    decoded,
    live_files,
    open_table,
    protocol_problem,
    schema_of,
)
from openlaketx.engine.file_check import check_files
from openlaketx.engine.locations import location_of, spark_read_path
from openlaketx.engine.spark.types import quoted_name, spark_schema
from openlaketx.extract.pinned_inputs import AS_WRITTEN

FILE = "lg_file"
"""Column with the path, relative to the table's root, of the file that contains a row."""

_LAST_MOMENT = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)

Ranges = dict[str, dict[str, tuple[Any, Any]]]


@dataclass(frozen=True)
class Existing:
    """Live files of the base by path, with column ranges from the log."""

    location: str
    schema: TableSchema
    files: dict[str, LiveFile]
    ranges: Ranges
    partitions: dict[str, dict[str, str | None]]

    @property
    def rows(self) -> int:
        return sum(file.rows or 0 for file in self.files.values())

    @property
    def is_partitioned(self) -> bool:
        return any(self.partitions.values())

    def without(self, removed: Iterable[str]) -> tuple[LiveFile, ...]:
        gone = set(removed)
        return tuple(self.files[path] for path in sorted(self.files) if path not in gone)

    def beside(self, removed: Iterable[str]) -> Existing:
        """The table without these files."""
        gone = set(removed)
        return replace(
            self,
            files={path: file for path, file in self.files.items() if path not in gone},
            partitions={path: of for path, of in self.partitions.items() if path not in gone},
        )

    def has_comparable_ranges(self, column: str, data_type: str) -> bool:
        """Whether ranges of the column are comparable with values of the type; as text, a date
        widened to a timestamp sorts before its own midnight."""
        held = self.schema.type_of(column)
        return held == data_type or {held, data_type} <= set(INTEGERS)

    def overlapping(self, column: str, low: Any, high: Any) -> set[str]:
        """Files that may have a value in the range; includes files without statistics."""
        found = set()
        for path in self.files:
            known = self.ranges[path].get(column)
            if known is None or (known[0] <= high and known[1] >= low):
                found.add(path)
        return found


def existing_table(plan: RunPlan) -> Existing:
    """The table at the run's base; empty if there is no table yet."""
    if plan.base is None:
        return Existing(plan.location, plan.table_schema, {}, {}, {})
    try:
        table = open_table(plan.location, plan.base.commit)
    except (DeltaError, OSError) as error:
        raise _damaged(plan, engine_reason(error)) from None
    if str(table.metadata().id) != plan.base.table_id:
        raise _damaged(
            plan, f"its table id is {table.metadata().id} instead of {plan.base.table_id}"
        )
    if problem := protocol_problem(table):
        raise _damaged(plan, problem)
    files = live_files(table)
    for file in files.values():
        if file.rows is None:
            raise BaseChanged(
                dataset=plan.dataset,
                expected="row counts for every live file",
                found=f"none for {file.path}",
            )
    ranges, partitions = _known(table, files, _ranged(plan))
    own = schema_of(table)
    columns = [own.only({name}).columns for name in plan.table_schema.names]
    had = TableSchema(columns=tuple(column for found in columns for column in found))
    return Existing(plan.location, had, files, ranges, partitions)


@contextmanager
def reading_base(plan: RunPlan) -> Iterator[Callable[[], Existing]]:
    """``existing_table``, read in a thread during the block: a table with very many files takes
    long.

    The callable raises what the read raised. A commit meanwhile is detected before ours.
    """
    with ThreadPoolExecutor(1, "base") as beside:
        yield beside.submit(copy_context().run, existing_table, plan).result


def read_existing(
    session: SparkSession, plan: RunPlan, existing: Existing, paths: Iterable[str]
) -> DataFrame:
    """The rows of these files with the run's columns, each with its file; every file is compared
    with its record first."""
    held = _held(plan, existing)
    schema = spark_schema(held)
    chosen = sorted(paths)
    if not chosen:
        empty = session.createDataFrame([], spark_schema(plan.table_schema))
        return empty.withColumn(FILE, F.lit(None).cast("string"))
    check_base(plan, chosen)
    locations = [spark_read_path(join(existing.location, path)) for path in chosen]
    frame = session.read.schema(schema).options(**AS_WRITTEN).parquet(*locations)
    frame = frame.withColumn(FILE, F.col("_metadata.file_path"))
    values = {path: existing.partitions[path] for path in chosen if not written_whole(path)}
    values = {path: texts for path, texts in values.items() if texts}
    frame = with_log_columns(frame, session, held, existing.location, chosen, values)
    return _as_planned(frame, held, plan)


def check_base(plan: RunPlan, paths: Collection[str]) -> None:
    """Compare files of the base with their records; raises ``FileDamaged``."""
    if plan.base is not None:
        check_files(plan.dataset, plan.base.table_id, plan.location, paths)


def _held(plan: RunPlan, existing: Existing) -> TableSchema:
    """The run's columns with the types that the files have."""
    types = {column.name: column.type for column in existing.schema.columns}
    columns = plan.table_schema.columns
    return TableSchema(
        columns=tuple(Column(name=c.name, type=types.get(c.name, c.type)) for c in columns)
    )


def _as_planned(frame: DataFrame, held: TableSchema, plan: RunPlan) -> DataFrame:
    """Cast narrower types to the run's wider ones."""
    if held == plan.table_schema:
        return frame
    selected = [
        lossless_cast(frame[quoted_name(c.name)], c.name, old.type, c.type).alias(c.name)
        for old, c in zip(held.columns, plan.table_schema.columns, strict=True)
    ]
    return frame.select(*selected, FILE)


def path_below(existing: Existing, uri: str) -> str:
    """The relative path for a file URI reported by Spark."""
    return below(location_of(uri), existing.location)


def _ranged(plan: RunPlan) -> set[str]:
    """Columns used for pruning; their ranges are read from the log."""
    return {*plan.load.keys, *([plan.window.column] if plan.window else [])}


def _known(
    table: DeltaTable, files: Iterable[str], ranged: set[str]
) -> tuple[Ranges, dict[str, dict[str, str | None]]]:
    """Ranges of these columns and partition values, by path."""
    actions = table.get_add_actions(flatten=True)
    names = [name for name in actions.schema.names if _is_asked(name, ranged)]
    columns = {name: actions[name].to_pylist() for name in names}
    if not columns:
        nothing: dict[str, Any] = {}
        return dict.fromkeys(files, nothing), dict.fromkeys(files, nothing)
    paths = decoded(actions["path"].to_pylist())
    ranges: Ranges = {}
    partitions: dict[str, dict[str, str | None]] = {}
    for index, path in enumerate(paths):
        ranges[path], partitions[path] = {}, {}
        for name, values in columns.items():
            kind, _, column = name.partition(".")
            value = values[index]
            if kind == "partition":
                partitions[path][column] = _partition_text(value)
                if value is not None:
                    ranges[path][column] = (comparable(value), comparable(value))
            elif kind == "min" and column in ranged and value is not None:
                high = columns[f"max.{column}"][index]
                if high is not None:
                    ranges[path][column] = (comparable(value), comparable(_not_below(high)))
    return ranges, partitions


def _is_asked(name: str, ranged: set[str]) -> bool:
    kind, _, column = name.partition(".")
    return kind == "partition" or (kind in ("min", "max") and column in ranged)


def comparable(value: Any) -> Any:
    """Times as ISO text, as in the statistics of staged files."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(timespec="microseconds")
    return value.isoformat() if isinstance(value, date) else value


def _not_below(high: Any) -> Any:
    """Some writers truncate times to milliseconds, so the maximum may be too low."""
    if not isinstance(high, datetime) or high.replace(tzinfo=UTC) > _LAST_MOMENT:
        return high
    return high + timedelta(milliseconds=1)


def _partition_text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, date) else str(value)


def _damaged(plan: RunPlan, problem: str) -> TableUnreadable:
    """The table was readable when the run opened."""
    return TableUnreadable(dataset=plan.dataset, location=plan.location, reason=problem)

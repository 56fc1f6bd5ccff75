"""Finds the rows of a batch that fail rules."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import duckdb
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.expressions.measures import (
    AnyMeasure,
    CountIf,
    DuplicateRows,
    JsonFaults,
    UnmatchedRows,
)
from lakeguard_sdk.storage.storage import below, join
from lakeguard_sdk.types.schema import TableSchema
from openlaketx.engine.duckdb_reader import DuckdbReader, duckdb_reader, file_list
from openlaketx.engine.locations import location_of, spark_file_address, spark_read_path
from openlaketx.engine.spark.session import Sessions
from openlaketx.engine.spark.types import spark_schema
from openlaketx.measure.duckdb_engine import DuckdbEngine
from openlaketx.measure.engine_choice import MeasureOptions
from openlaketx.measure.runner import MeasuringEngine, Relation
from openlaketx.measure.spark_engine import AS_WRITTEN, SparkEngine
from openlaketx.measure.sql.aggregate_sql import FoundRows
from openlaketx.measure.sql.condition_sql import ConditionSql
from openlaketx.measure.sql.duckdb_dialect import DUCKDB
from openlaketx.measure.sql.json_values import judge_of
from openlaketx.measure.sql.keys import duplicate_rows, unmatched_rows
from openlaketx.measure.subject import Subject
from openlaketx.measure.time_limit import TimeLimit, TimeLimitExceeded
from openlaketx.measure.timed_engine import TimedEngine
from openlaketx.quarantine.row_bitmap import RowBitmap

# Rows of a batch with their position: file and row number.

_NUMBER = "file_row_number"
_SCHEME = re.compile("^file:(//)?")


class PlacingEngine(MeasuringEngine):
    """An engine that can also locate a row in the staged files."""

    place: tuple[str, str]
    """Names of the columns for a row's file and its zero-based number; unused in the batch."""

    @abstractmethod
    def placed(self) -> Relation:
        """The rows of the batch, each with its position."""

    @abstractmethod
    def path(self, file: str) -> str:
        """The file's path relative to the table's root."""


class _Duckdb(DuckdbEngine, PlacingEngine):
    def __init__(self, subject: Subject, reader: DuckdbReader) -> None:
        super().__init__(subject, reader)
        self.place = _free_names(subject.schema)

    def placed(self) -> Relation:
        file, row = self.place
        rows = (
            f"(SELECT *, {_NUMBER} AS {row} FROM read_parquet($placed, hive_partitioning = false,"  # noqa: S608
            f" union_by_name = true, filename = '{file}', {_NUMBER} = true))"
        )
        return Relation(rows, {"placed": self._subject.files(Scope.BATCH)})

    def path(self, file: str) -> str:
        return below(location_of(file), self._subject.batch.location)


class _Spark(SparkEngine, PlacingEngine):
    def __init__(self, subject: Subject, session: SparkSession) -> None:
        super().__init__(subject, session)
        self.place = _free_names(subject.schema)

    def placed(self) -> Relation:
        subject, (file, row) = self._subject, self.place
        reader = self._session.read.schema(spark_schema(subject.schema)).options(**AS_WRITTEN)
        places = [spark_read_path(place) for place in subject.locations(Scope.BATCH)]
        frame = reader.parquet(*places).withColumns(
            {file: F.col("_metadata.file_path"), row: F.col("_metadata.row_index")}
        )
        view = self._views.setdefault("placed", f"{self._tag}_placed")
        frame.createOrReplaceTempView(view)
        return Relation(view, {})

    def path(self, file: str) -> str:
        batch = self._subject.batch
        places = {spark_file_address(join(batch.location, f.path)): f.path for f in batch.files}
        return places.get(_SCHEME.sub("", file), file)


@contextmanager
def _placing_engine(
    subject: Subject,
    options: MeasureOptions,
    measures: Sequence[AnyMeasure],
    sessions: Sessions | None,
    limit: TimeLimit,
) -> Iterator[PlacingEngine]:
    """The engine that takes these measures, or DuckDB without sessions."""
    taken = _NUMBER in (name.casefold() for name in subject.schema.names)
    if sessions is not None and (taken or options.with_spark(measures, subject)):
        spark = _Spark(subject, sessions())
        with spark.opened(), limit.running(spark.stop):
            yield spark
        return
    with duckdb_reader() as reader:
        duck = _Duckdb(subject, reader)
        with limit.running(duck.stop):
            yield duck


def _free_names(schema: TableSchema) -> tuple[str, str]:
    """Engines compare names case-insensitively, and prefer a column of the batch."""
    taken = {name.casefold() for name in schema.names}
    file, row = "lg_file", "lg_row"
    while taken & {file, row}:
        file, row = f"{file}_", f"{row}_"
    return file, row


Failing = dict[str, RowBitmap]
"""By file, relative to the table's root; only files with failing rows."""
_TEXTS_KNOWN = 100_000
_FAILURES = (ValueError, OverflowError, TimeLimitExceeded)


class NotFound(Exception):
    """The failing rows cannot be determined; the message is the reason."""


def failing_rows(
    rules: Mapping[int, AnyMeasure],
    subject: Subject,
    options: MeasureOptions,
    sessions: Sessions | None,
) -> Failing:
    """Every row of the batch that one of the measures counts, by rule number.

    ``NotFound`` if an engine cannot determine them.
    """
    limit = TimeLimit(options.seconds)
    with _placing_engine(subject, options, list(rules.values()), sessions, limit) as engine:
        finder = _RowFinder(engine, TimedEngine(engine, limit), subject)
        failures: tuple[type[Exception], ...] = (*engine.failures, *_FAILURES)
        try:
            return finder.rows_of(rules)
        except failures as error:
            raise NotFound(engine.reason(error)) from None


class _RowFinder:
    def __init__(self, engine: PlacingEngine, timed: TimedEngine, subject: Subject) -> None:
        self._engine = engine
        self._watched = timed
        self._placed = engine.placed()
        self._place = engine.place
        self._rows = {file.path: file.rows for file in subject.batch.files}
        self._found: Failing = {}
        self._paths: dict[str, RowBitmap] = {}

    def rows_of(self, rules: Mapping[int, AnyMeasure]) -> Failing:
        """Row conditions share one scan; every other measure has its own query."""
        counted: dict[int, CountIf] = {}
        for number, measure in rules.items():
            match measure:
                case CountIf():
                    counted[number] = measure
                case DuplicateRows():
                    self._repeated(number, measure)
                case UnmatchedRows():
                    self._unmatched(number, measure)
                case JsonFaults():
                    self._misread(number, measure)
                case _:
                    raise ValueError(f"{measure.measure} does not identify single rows")
        if counted:
            self._counted(counted)
        return self._found

    def _counted(self, rules: Mapping[int, CountIf]) -> None:
        """A condition is evaluated only where its ``where`` is TRUE."""
        sql = self._sql()
        conditions = []
        for number, measure in rules.items():
            failing = sql.condition(measure.condition)
            if measure.where is not None:
                failing = f"CASE WHEN {sql.condition(measure.where)} THEN {failing} ELSE FALSE END"
            conditions.append(f"coalesce({failing}, FALSE) AS lg_fails_{number}")
        names = [f"lg_fails_{number}" for number in rules]
        rows = f"(SELECT {', '.join([*self._place, *conditions])} FROM {self._placed.text})"  # noqa: S608
        query = self._where(FoundRows(rows, " OR ".join(names)), names)
        for batch in self._batches(query, sql):
            for file, row, *fails in batch:
                for number in (
                    at for at, fails_rule in zip(rules, fails, strict=True) if fails_rule
                ):
                    self._mark(file, row, number)

    def _repeated(self, number: int, measure: DuplicateRows) -> None:
        """Rows of the batch whose key occurs more than once in the measure's scope."""
        sql, engine = self._sql(), self._engine
        origin, touched = engine.origin(measure.scope), engine.touched(measure)
        near = touched.text if touched else None
        among = self._placed.text
        found = duplicate_rows(
            measure, sql, engine.forms, origin.text, near, self._place, most=None, among=among
        )
        self._mark_all(number, found, sql, origin, *([touched] if touched else []))

    def _unmatched(self, number: int, measure: UnmatchedRows) -> None:
        sql, engine = self._sql(), self._engine
        other, schema = engine.reference(measure.dataset)
        of = (other.text, schema)
        found = unmatched_rows(measure, sql, engine.forms, self._placed.text, of, self._place)
        self._mark_all(number, found, sql, other)

    def _misread(self, number: int, measure: JsonFaults) -> None:
        sql = self._sql()
        is_right = lru_cache(_TEXTS_KNOWN)(judge_of(measure))
        chosen = "TRUE" if measure.where is None else sql.condition(measure.where)
        text = f"{self._engine.forms.quoted(measure.column.name)} AS lg_text"
        held = ", ".join([*self._place, text, f"{chosen} AS lg_chosen"])
        rows = f"(SELECT {held} FROM {self._placed.text})"  # noqa: S608
        query = self._where(FoundRows(rows, "lg_chosen AND lg_text IS NOT NULL"), ["lg_text"])
        for batch in self._batches(query, sql):
            for file, row, text in batch:
                if not is_right(text):
                    self._mark(file, row, number)

    def _mark_all(self, number: int, found: FoundRows, sql: ConditionSql, *read: Relation) -> None:
        for batch in self._batches(self._where(found), sql, *read):
            for file, row in batch:
                self._mark(file, row, number)

    def _mark(self, file: str, row: int, number: int) -> None:
        rows = self._paths.get(file)
        if rows is None:
            path = self._engine.path(file)
            if path not in self._rows:
                raise ValueError("a failing row is outside the files of the batch")
            rows = self._found.setdefault(path, RowBitmap(self._rows[path]))
            self._paths[file] = rows
        rows.mark(row, number)

    def _batches(
        self, query: str, sql: ConditionSql, *read: Relation
    ) -> Iterable[Sequence[tuple[Any, ...]]]:
        return self._watched.batches(query, sql, [self._placed, *read])

    def _sql(self) -> ConditionSql:
        return ConditionSql(self._engine.forms.dialect)

    def _where(self, found: FoundRows, more: Sequence[str] = ()) -> str:
        """Filters in a form that disables row-group skipping."""
        condition = f"CASE WHEN {found.failing} THEN 1 ELSE 0 END = 1"
        columns = ", ".join([*self._place, *more])
        return f"SELECT {columns} FROM {found.source} WHERE {condition}"  # noqa: S608 - names are ours


# Rows of one set of files that another set holds too.


def holds_rows(files: Sequence[str], others: Sequence[str], columns: Sequence[str]) -> bool:
    """Whether every row of ``others`` occurs in ``files`` at least as often; False if they have
    other columns or cannot be compared."""
    names = ", ".join(DUCKDB.quoted(name) for name in columns)
    one, other = (
        f"SELECT {names} FROM read_parquet(${side}, hive_partitioning = false)"  # noqa: S608 - quoted
        for side in ("others", "files")
    )
    query = f"SELECT count(*) FROM ({one} EXCEPT ALL {other})"  # noqa: S608 - names are quoted
    try:
        with duckdb_reader() as reader:
            found = reader.row(query, {"files": file_list(files), "others": file_list(others)})
    except duckdb.Error:
        return False
    return found == (0,)

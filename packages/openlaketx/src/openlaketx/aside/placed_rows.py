"""Rows of a batch with the place of each: its file, and its number in that file."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lakeguard_sdk.measure import AnyMeasure
from lakeguard_sdk.storage import join, local_path
from lakeguard_sdk.words import Scope
from openlaketx.engine.places import spark_file_address, spark_read_path
from openlaketx.engine.spark_types import spark_schema
from openlaketx.measure.duckdb_engine import DuckdbEngine
from openlaketx.measure.duckdb_reader import duckdb_reader
from openlaketx.measure.how import How
from openlaketx.measure.measuring import MeasuringEngine, Relation
from openlaketx.measure.spark_engine import AS_WRITTEN, SparkEngine
from openlaketx.measure.subject import Subject
from openlaketx.measure.watch import Watch

FILE, ROW = "lg_file", "lg_row"
_NUMBER = "file_row_number"
_PLACED = (
    f"(SELECT *, {_NUMBER} AS {ROW} FROM read_parquet($placed, hive_partitioning = false,"  # noqa: S608
    f" union_by_name = true, filename = '{FILE}', {_NUMBER} = true))"
)
_SCHEME = re.compile("^file:(//)?")


class PlacingEngine(MeasuringEngine):
    """An engine that can also tell where in the staged files a row is."""

    @abstractmethod
    def placed(self) -> Relation:
        """The rows of the batch, with ``FILE`` and ``ROW``, which counts from 0."""

    @abstractmethod
    def path(self, told: str) -> str:
        """The file that it tells, below the table's root."""


class _Duckdb(DuckdbEngine, PlacingEngine):
    def placed(self) -> Relation:
        return Relation(_PLACED, {"placed": self._subject.files(Scope.BATCH)})

    def path(self, told: str) -> str:
        return told.removeprefix(f"{local_path(self._subject.batch.location).rstrip('/')}/")


class _Spark(SparkEngine, PlacingEngine):
    def placed(self) -> Relation:
        subject = self._subject
        reader = self._session.read.schema(spark_schema(subject.schema)).options(**AS_WRITTEN)
        places = [spark_read_path(place) for place in subject.locations(Scope.BATCH)]
        frame = reader.parquet(*places).withColumns(
            {FILE: F.col("_metadata.file_path"), ROW: F.col("_metadata.row_index")}
        )
        view = self._views.setdefault("placed", f"{self._tag}_placed")
        frame.createOrReplaceTempView(view)
        return Relation(view, {})

    def path(self, told: str) -> str:
        batch = self._subject.batch
        places = {spark_file_address(join(batch.location, f.path)): f.path for f in batch.files}
        return places[_SCHEME.sub("", told)]


@contextmanager
def placing_engine(
    subject: Subject,
    how: How,
    measures: Sequence[AnyMeasure],
    session: SparkSession | None,
    watch: Watch,
) -> Iterator[PlacingEngine]:
    """The engine that measures those, DuckDB without a session; it has no room for a column by the
    name of its own."""
    taken = _NUMBER in (name.casefold() for name in subject.schema.names)
    if session is not None and (taken or how.with_spark(measures, subject)):
        spark = _Spark(subject, session)
        with spark.opened(), watch.running(spark.stop):
            yield spark
        return
    with duckdb_reader() as reader:
        duck = _Duckdb(subject, reader)
        with watch.running(duck.stop):
            yield duck

"""Rows of a batch with the place of each: its file, and its number in that file."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lakeguard_sdk.measure import AnyMeasure
from lakeguard_sdk.schema import TableSchema
from lakeguard_sdk.storage import join, local_path
from lakeguard_sdk.words import Scope
from openlaketx.engine.places import spark_file_address, spark_read_path
from openlaketx.engine.spark_types import spark_schema
from openlaketx.measure.duckdb_engine import DuckdbEngine
from openlaketx.measure.duckdb_reader import DuckdbReader, duckdb_reader
from openlaketx.measure.how import How
from openlaketx.measure.measuring import MeasuringEngine, Relation
from openlaketx.measure.spark_engine import AS_WRITTEN, SparkEngine
from openlaketx.measure.subject import Subject
from openlaketx.measure.watch import Watch

_NUMBER = "file_row_number"
_SCHEME = re.compile("^file:(//)?")


class PlacingEngine(MeasuringEngine):
    """An engine that can also tell where in the staged files a row is."""

    place: tuple[str, str]
    """Names the columns of a row's file and of its number there, which counts from 0; the batch
    has none by these names."""

    @abstractmethod
    def placed(self) -> Relation:
        """The rows of the batch, each with its ``place``."""

    @abstractmethod
    def path(self, told: str) -> str:
        """The file that it tells, below the table's root."""


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

    def path(self, told: str) -> str:
        return told.removeprefix(f"{local_path(self._subject.batch.location).rstrip('/')}/")


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

    def path(self, told: str) -> str:
        batch = self._subject.batch
        places = {spark_file_address(join(batch.location, f.path)): f.path for f in batch.files}
        return places.get(_SCHEME.sub("", told), told)


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


def _free_names(schema: TableSchema) -> tuple[str, str]:
    """Engines tell names apart by their letters alone, and take a column of the batch first."""
    taken = {name.casefold() for name in schema.names}
    file, row = "lg_file", "lg_row"
    while taken & {file, row}:
        file, row = f"{file}_", f"{row}_"
    return file, row

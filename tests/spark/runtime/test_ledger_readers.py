"""Four engines read every table of the ledger, and see the same rows.

DuckDB reads the files that the table's version names: its own extension for Delta is not part of
the package and would have to be downloaded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import duckdb
import polars
import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from lakeguard.relay.rows import arrow_schema
from lakeguard.relay.tables import ledger_tables
from lakeguard.state.database import Database
from tests.support.lakes.verified_lakes import ProvenLake, make_proven_lake

pytestmark = pytest.mark.spark

Rows = Counter[tuple[Any, ...]]
Reader = Callable[[Path, pa.Schema], Iterable[tuple[Any, ...]]]
"""Rows of the table in the schema's columns; times as microseconds since 1970."""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> ProvenLake:
    folder = tmp_path_factory.mktemp("lake")
    return make_proven_lake(Database(f"sqlite:///{folder}/state.db"), folder)


def with_delta_rs(table: Path, schema: pa.Schema) -> Iterable[tuple[Any, ...]]:
    data = pa.table(DeltaTable(str(table)).scan().read_all()).select(schema.names)
    columns = [
        data[field.name].cast(pa.int64()) if _is_time(field) else data[field.name]
        for field in schema
    ]
    return zip(*(column.to_pylist() for column in columns), strict=True)


def with_polars(table: Path, schema: pa.Schema) -> Iterable[tuple[Any, ...]]:
    columns = [
        polars.col(field.name).dt.epoch("us") if _is_time(field) else polars.col(field.name)
        for field in schema
    ]
    return polars.read_delta(str(table)).select(columns).rows()


def with_duckdb(table: Path, schema: pa.Schema) -> Iterable[tuple[Any, ...]]:
    files = [uri.removeprefix("file://") for uri in DeltaTable(str(table)).file_uris()]
    if not files:
        return []
    columns = ", ".join(
        f'epoch_us("{field.name}")' if _is_time(field) else f'"{field.name}"' for field in schema
    )
    with duckdb.connect() as connection:
        return connection.execute(f"SELECT {columns} FROM read_parquet($1)", [files]).fetchall()


def with_spark(spark: SparkSession) -> Reader:
    """In few tasks: the tables are small and many."""
    session = spark.newSession()
    session.conf.set("spark.databricks.delta.snapshotPartitions", "1")
    session.conf.set("spark.sql.shuffle.partitions", "1")

    def read(table: Path, schema: pa.Schema) -> Iterable[tuple[Any, ...]]:
        columns = [
            f.unix_micros(field.name) if _is_time(field) else f.col(field.name) for field in schema
        ]
        found = session.read.format("delta").load(str(table)).select(*columns)
        return [tuple(row) for row in found.collect()]

    return read


def test_four_readers_agree(lake: ProvenLake, spark: SparkSession) -> None:
    readers: dict[str, Reader] = {
        "delta-rs": with_delta_rs,
        "Polars": with_polars,
        "DuckDB": with_duckdb,
        "Spark": with_spark(spark),
    }
    rows = 0
    for name, table in ledger_tables().items():
        seen: dict[str, Rows] = {
            reader: Counter(read(lake.ledger_folder(name), arrow_schema(table)))
            for reader, read in readers.items()
        }
        expected = seen["delta-rs"]
        assert {reader: found for reader, found in seen.items() if found != expected} == {}, name
        rows += expected.total()
    assert rows > lake.verify().rows, "the links of the chain come on top"


def _is_time(field: pa.Field) -> bool:
    return bool(pa.types.is_timestamp(field.type))

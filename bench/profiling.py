"""A profile of a version against what Spark's own summary of the same files takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from shutil import rmtree
from typing import Any

import duckdb
from deltalake import DeltaTable
from deltalake.transaction import AddAction, create_table_with_add_actions
from pyspark.sql import functions

from bench.figures import SCRATCH, Figure
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.model.profile import Profile
from lakeguard_sdk.model.read_models import ResolvedDataset
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.engine.delta_table import delta_schema
from openlaketx.engine.spark.session import spark_session
from openlaketx.profile import profile_version

NAME = "profiling"
ROWS, FILES = 5_000_000, 10
RATIO_BAR = 0.5
HEAP = "6g"
COLUMNS: dict[str, tuple[str, str]] = {
    "id": ("long", "i"),
    "serial": ("long", "CAST(hash(i + 1) >> 8 AS BIGINT)"),
    "customer": ("long", "CAST(hash(i + 2) % 200000 AS BIGINT)"),
    "cents": ("long", "CAST(hash(i + 3) % 3000000 AS BIGINT)"),
    "quantity": ("integer", "CAST(hash(i + 4) % 50 AS INTEGER)"),
    "day_no": ("integer", "CAST(hash(i + 5) % 365 AS INTEGER)"),
    "price": ("double", "hash(i + 6) / 1.8e16"),
    "score": ("double", "sqrt(hash(i + 7) / 1.8e19)"),
    "discount": ("double", "(hash(i + 8) % 1000) / 10"),
    "delay": ("double", "CASE WHEN hash(i) % 3 > 0 THEN hash(i + 9) / 1.8e17 END"),
    "total": ("decimal(12,2)", "CAST((hash(i + 10) % 1000000) / 100 AS DECIMAL(12,2))"),
    "tax": ("decimal(6,1)", "CAST((hash(i + 11) % 1000) / 10 AS DECIMAL(6,1))"),
    "sold_on": ("date", "DATE '2020-01-01' + CAST(hash(i + 12) % 2000 AS INTEGER)"),
    "sold_at": ("timestamp", "make_timestamptz(CAST(hash(i + 13) % 1700000000000000 AS BIGINT))"),
    "paid": ("boolean", "hash(i + 14) % 2 = 0"),
    "status": ("string", "['OPEN', 'PAID', 'SENT', 'LOST'][1 + CAST(hash(i + 15) % 4 AS INT)]"),
    "country": ("string", "['NO', 'SE', 'DK', 'DE', 'GB'][1 + CAST(hash(i + 16) % 5 AS INT)]"),
    "email": ("string", "'user' || (hash(i + 17) % 500000) || '@example.com'"),
    "token": ("string", "md5(CAST(i AS VARCHAR))"),
    "code": ("string", "'C-' || lpad(CAST(hash(i + 18) % 10000 AS VARCHAR), 5, '0')"),
}
"""Twenty of mixed types, some with a value for each row and some with few."""


def run() -> list[Figure]:
    folder = SCRATCH / NAME
    rmtree(folder, ignore_errors=True)
    version = _version(folder)
    profile, ours = _timed(lambda: profile_version(version))
    assert isinstance(profile, Profile)
    assert profile.rows == ROWS
    assert {column.column: column.distinct for column in profile.columns}["id"] == ROWS
    spark = _spark_seconds(folder)
    rmtree(folder)
    size = f"{ROWS / 1e6:.0f} M rows, {len(COLUMNS)} columns"
    return [
        Figure(f"profile of {size}", ours, "s"),
        Figure(f"Spark's summary and distinct counts of {size}", spark, "s"),
        Figure("profile against Spark", ours / spark, "x", RATIO_BAR),
    ]


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    begun = time.perf_counter()
    found = work()
    return found, time.perf_counter() - begun


def _spark_seconds(folder: Path) -> float:
    """The session is warm: it has read the files before."""
    spark = spark_session({"spark.driver.memory": HEAP})
    frame = spark.read.parquet(*map(str, sorted(folder.glob("*.parquet"))))
    frame.agg(*(functions.count(name) for name in COLUMNS)).collect()

    def asked() -> None:
        frame.summary().collect()
        frame.agg(*(functions.approx_count_distinct(name) for name in COLUMNS)).collect()

    return _timed(asked)[1]


def _version(folder: Path) -> ResolvedDataset:
    """A table of files that DuckDB wrote, without statistics."""
    folder.mkdir(parents=True)
    schema = TableSchema(columns=tuple(Column(name=n, type=t) for n, (t, _) in COLUMNS.items()))
    files = [_write(folder, number) for number in range(FILES)]
    adds = [AddAction(file.name, file.stat().st_size, {}, 0, True, "{}") for file in files]
    create_table_with_add_actions(str(folder), delta_schema(schema), adds, "overwrite", [])
    return ResolvedDataset(
        dataset=DatasetName("silver.sales"),
        dataset_id="ds_1",
        version=1,
        location=str(folder),
        table_id=str(DeltaTable(folder).metadata().id),
        commit=0,
        table_schema=schema,
    )


def _write(folder: Path, number: int) -> Path:
    file = folder / f"part-{number}.parquet"
    chosen = ", ".join(f"{sql} AS {name}" for name, (_, sql) in COLUMNS.items())
    step = ROWS // FILES
    rows = f"range({number * step}, {(number + 1) * step}) r(i)"
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute("SET enable_progress_bar_print = false")
        connection.execute(f"COPY (SELECT {chosen} FROM {rows}) TO '{file}' (FORMAT PARQUET)")
    return file

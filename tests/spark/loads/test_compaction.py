"""Compacted files under Spark: it reads what it wrote, and children see no new rows."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from lakeguard_sdk import Client
from lakeguard_sdk.core.enums import LoadType, RunStatus
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.storage.storage import storage_for
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.compact import rewrite
from openlaketx.engine.spark.types import spark_schema
from openlaketx.worker import create_worker
from tests.spark.runtime.test_end_to_end import BRONZE, FILES, SILVER, ids
from tests.support.lakes.loaded_tables import TABLE, LoadedTable
from tests.support.lakes.plans import write_files
from tests.support.projects.folders import applied, run
from tests.unit.openlaketx.compact.test_rewrite import plan_of

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

TYPES = {
    "n": "long",
    "s": "string",
    "b": "binary",
    "d": "double",
    "day": "date",
    "at": "timestamp",
    "d9": "decimal(9,2)",
    "d18": "decimal(18,3)",
    "d38": "decimal(38,4)",
    "small": "short",
    "v": "struct<x:double,tags:array<string>>",
}
SCHEMA = TableSchema(columns=tuple(Column(name=name, type=kind) for name, kind in TYPES.items()))
AT = datetime(1500, 1, 1, 1, 2, 3, 456789, tzinfo=UTC)
"""Before the Gregorian calendar: readers must know the writer's calendar."""
ROWS = [
    (1, "a", b"\x00", 1.5, date(1500, 2, 3), AT, Decimal("1.25"), Decimal("-2.125"),
     Decimal("123456789012345678901234.0625"), 7, (0.5, ["x", None])),
    (2, None, None, math.nan, None, None, None, None, None, None, None),
    (3, "ü", b"\xff", -0.0, date(2026, 1, 1), AT, Decimal("-9999999.99"), Decimal("0"),
     Decimal("-1"), -7, (math.nan, [])),
]  # fmt: skip


def described(frame: DataFrame) -> list[str]:
    return sorted(repr(row) for row in frame.collect())


@pytest.fixture
def merged(tmp_path: Path, session: SparkSession) -> tuple[DataFrame, DataFrame]:
    """Spark's view of the files it wrote, and of the compacted file."""
    groups = []
    for number, row in enumerate(ROWS):
        folder = tmp_path / "runs" / f"run_{number}"
        frame = session.createDataFrame([row], spark_schema(SCHEMA))
        frame.coalesce(1).write.parquet(str(folder))
        groups += [str(file.relative_to(tmp_path)) for file in folder.glob("*.parquet")]
    plan = plan_of(tmp_path, tuple(groups), table_schema=SCHEMA, staging="runs/run_9")
    made = rewrite(plan, storage_for(str(tmp_path)), lambda: None)
    assert made is not None
    assert (made.before, made.rows) == (made.after, 3)

    def read(*paths: str) -> DataFrame:
        files = [str(tmp_path / path) for path in paths]
        return session.read.schema(spark_schema(SCHEMA)).parquet(*files)

    return read(*groups), read(made.adds[0].path)


def test_spark_reads_the_same_rows(merged: tuple[DataFrame, DataFrame]) -> None:
    before, after = merged
    assert described(after) == described(before)


@pytest.mark.parametrize(
    "condition",
    [
        "d > 1e300", "d <= 0", "isnan(v.x)", "day < date'1600-01-01'", "d9 = 1.25", "d18 < 0",
        "d38 < 0", "s >= 'b'", "at < timestamp'1600-01-01 00:00:00Z'", "small = -7", "n = 2",
    ],
)  # fmt: skip
def test_spark_skips_no_row_that_it_is_asked_for(
    merged: tuple[DataFrame, DataFrame], condition: str
) -> None:
    """Readers skip row groups by their statistics."""
    before, after = merged
    assert described(after.where(condition)) == described(before.where(condition)) != []


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return applied(tmp_path, FILES)


def test_a_child_sees_no_news_in_a_compaction(client: Client, tmp_path: Path) -> None:
    def compact() -> None:
        task_id = client.operations.submit_compaction(BRONZE, "tests")
        ended = create_worker(client.for_worker(), spark_options={}).run_compaction(task_id)
        assert (ended.status, ended.decision is None) == (RunStatus.SUCCESS, False)

    write_files(tmp_path, a="id,amount\n1,1\n")
    assert run(client, BRONZE).version == 1
    write_files(tmp_path, b="id,amount\n2,2\n")
    assert run(client, BRONZE).version == 2
    assert run(client, SILVER).version == 1
    compact()
    nothing = run(client, SILVER)
    assert (nothing.status, nothing.version) == (RunStatus.SUCCESS, None)
    write_files(tmp_path, c="id,amount\n3,3\n")
    assert run(client, BRONZE).version == 3
    compact()
    assert run(client, SILVER).version == 2
    assert ids(client, SILVER) == ids(client, BRONZE) == [1, 2, 3]
    assert client.ledger.verify(replay=True).findings == ()


@pytest.mark.parametrize(("added", "value"), [("string", "new"), ("double", math.nan)])
def test_files_that_are_older_than_a_column_are_merged_too(
    tmp_path: Path, added: str, value: Any
) -> None:
    table = LoadedTable(tmp_path / "project", Load(type=LoadType.APPEND), {"k": "long"})
    for key in (1, 2):
        table.land([{"k": key}])
        table.run()
    table.redefine(columns={"k": "long", "w": added})
    table.land([{"k": 3, "w": value}])
    assert table.run().version == 3
    before = sorted(map(repr, table.by_deltalake()))
    client = table.client
    task_id = client.operations.submit_compaction(TABLE, "tests")
    create_worker(client.for_worker(), spark_options={}).run_compaction(task_id)
    assert len(table.files()) == 1
    assert sorted(map(repr, table.by_deltalake())) == before
    assert client.ledger.verify(replay=True).findings == ()
    assert client.operations.maintain(TABLE, dry_run=True).small_files == 0

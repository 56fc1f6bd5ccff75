"""External Delta tables as Spark writes them: each row once, at one version."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession

from lakeguard_sdk.core.enums import LoadType, SourceFormat
from lakeguard_sdk.errors import SourceUnreadable
from lakeguard_sdk.model.run import SourceBuild
from lakeguard_sdk.storage.storage import LocalStorage
from openlaketx.engine.delta_table import delta_schema
from openlaketx.extract import Batch, extract
from tests.support.fakes.source_history import SourceHistory
from tests.support.lakes.plans import plan, schema

pytestmark = pytest.mark.spark

APPEND, FULL = LoadType.APPEND, LoadType.FULL
KEYED = {"type": "INCREMENTAL", "keys": ["id"]}


def read(
    session: SparkSession,
    lake: Path,
    load: Any = APPEND,
    before: Batch | None = None,
    first: Batch | None = None,
    **given: Any,
) -> Batch | None:
    history = SourceHistory(*(each.position for each in (first, before) if each is not None))
    fields = {"source": "orders", "format": SourceFormat.DELTA, "path": "in/t t"}
    build = SourceBuild(**{**fields, "position": history.position, **given})
    made = plan(lake, build, schema(id="long"), load=load)
    return extract(made, lambda: session, str(lake), LocalStorage(), reader=history)


def table(lake: Path) -> str:
    return str(lake / "in" / "t t")


def write(spark: SparkSession, lake: Path, sql: str, mode: str = "append", **options: str) -> None:
    frame = spark.sql(sql)
    writer = frame.write.format("delta").mode(mode).options(**options)
    parts = [name for name in ("d", "p") if name in frame.columns]
    writer.partitionBy(*parts).save(table(lake))


def rows(batch: Batch | None) -> list[tuple[Any, ...]]:
    assert batch is not None
    return sorted((tuple(row) for row in batch.frame.collect()), key=str)


def failure(session: SparkSession, lake: Path, **given: Any) -> str:
    with pytest.raises(SourceUnreadable) as refusal:
        read(session, lake, **given)
    return str(refusal.value)


def test_new_files_are_read_once(
    spark: SparkSession, session: SparkSession, tmp_path: Path
) -> None:
    write(spark, tmp_path, "SELECT id FROM range(3)")
    first = read(session, tmp_path)
    assert first is not None
    write(spark, tmp_path, "SELECT id + 3 AS id FROM range(2)")
    assert rows(first) == [(0,), (1,), (2,)]
    second = read(session, tmp_path, before=first)
    assert rows(second) == [(3,), (4,)]
    assert second is not None
    assert read(session, tmp_path, before=second, first=first) is None
    assert rows(read(session, tmp_path, FULL)) == [(0,), (1,), (2,), (3,), (4,)]


def test_rows_that_went_away(spark: SparkSession, session: SparkSession, tmp_path: Path) -> None:
    write(spark, tmp_path, "SELECT id FROM range(3)")
    first = read(session, tmp_path)
    assert first is not None
    DeltaTable(table(tmp_path)).delete("id = 1")
    assert "lost rows since the last read" in failure(session, tmp_path, before=first)
    again = read(session, tmp_path, KEYED, first)
    assert set(rows(again)) <= {(0,), (2,)}
    assert rows(read(session, tmp_path, FULL)) == [(0,), (2,)]


ODD = "a b%/é=x"


def partitioned_by_spark(spark: SparkSession, lake: Path) -> None:
    """delta-spark writes partition columns into the files, too."""
    write(
        spark,
        lake,
        f"SELECT 1L AS id, DATE '2024-02-29' AS d, '{ODD}' AS p, 'z' AS v UNION ALL"
        " SELECT 2L, NULL, '007', NULL",
    )


def partitioned_by_deltalake(_: SparkSession, lake: Path) -> None:
    """Only the folder names contain the values, as usual."""
    columns = {"id": [1, 2], "d": [date(2024, 2, 29), None], "p": [ODD, "007"], "v": ["z", None]}
    write_deltalake(table(lake), pa.table(columns), partition_by=["d", "p"])


@pytest.mark.parametrize("written", [partitioned_by_spark, partitioned_by_deltalake])
def test_partitions_are_columns_like_others(
    spark: SparkSession,
    session: SparkSession,
    tmp_path: Path,
    written: Callable[[SparkSession, Path], None],
) -> None:
    written(spark, tmp_path)
    batch = read(session, tmp_path)
    assert batch is not None
    assert [(c.name, c.type) for c in batch.live.columns] == [
        ("id", "long"),
        ("d", "date"),
        ("p", "string"),
        ("v", "string"),
    ]
    assert rows(batch) == [(1, date(2024, 2, 29), ODD, "z"), (2, None, "007", None)]


def test_a_column_that_came_later_is_null_before(
    spark: SparkSession, session: SparkSession, tmp_path: Path
) -> None:
    write(spark, tmp_path, "SELECT 1L AS id")
    write(spark, tmp_path, "SELECT 2L AS id, 'x' AS v", mergeSchema="true")
    assert rows(read(session, tmp_path)) == [(1, None), (2, "x")]


def test_an_empty_table_is_an_empty_batch(session: SparkSession, tmp_path: Path) -> None:
    DeltaTable.create(table(tmp_path), delta_schema(schema(id="long")))
    first = read(session, tmp_path)
    assert first is not None
    assert rows(first) == []
    assert read(session, tmp_path, before=first) is None


def test_what_changes_the_meaning_of_files_is_refused(
    spark: SparkSession, session: SparkSession, tmp_path: Path
) -> None:
    write(spark, tmp_path, "SELECT 1L AS id", **{"delta.enableDeletionVectors": "true"})
    assert "in/t t: it uses deletionVectors" in failure(session, tmp_path)


def test_what_is_no_table_or_hides_its_values_is_refused(
    session: SparkSession, tmp_path: Path
) -> None:
    assert "in/t t: " in failure(session, tmp_path)
    moments = pa.table({"id": [1], "p": [datetime(2024, 1, 1, tzinfo=UTC)]})
    write_deltalake(table(tmp_path), moments, partition_by=["p"])
    assert "partition column p is a timestamp" in failure(session, tmp_path)
    assert "unknown Delta option 'version'" in failure(session, tmp_path, options={"version": "1"})


@pytest.mark.parametrize("path", ["..\\\\x.parquet", "gone.parquet"])
def test_a_file_that_spark_does_not_find_is_a_source_that_cannot_be_read(
    spark: SparkSession, session: SparkSession, tmp_path: Path, path: str
) -> None:
    write(spark, tmp_path, "SELECT 1L AS id")
    (log,) = Path(table(tmp_path), "_delta_log").glob("*.json")
    log.write_text(re.sub(r'"path":"[^"]+"', lambda _: f'"path":"{path}"', log.read_text()))
    (tmp_path / "in/t t/_delta_log/.00000000000000000000.json.crc").unlink()
    assert "in/t t: " in failure(session, tmp_path)

"""Every engine reads back what Spark staged and the committer published."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import StagingFailed
from lakeguard_sdk.storage.storage import LocalStorage
from lakeguard_sdk.types.schema import TableSchema
from openlaketx.engine.spark.types import spark_schema
from openlaketx.extract import Batch
from openlaketx.publish import commit_publish
from openlaketx.stage import Candidate, seal, stage
from tests.support.lakes.plans import parquet, plan, schema
from tests.unit.openlaketx.governed import Governed, create_governed

pytestmark = pytest.mark.spark

EVERYTHING = schema(
    **{
        "b": "byte", "s": "short", "i": "integer", "l": "long", "f": "float", "d": "double",
        "p9": "decimal(9,2)", "p18": "decimal(18,4)", "p38": "decimal(38,18)",
        "text": "string", "yes": "boolean", "raw": "binary", "day": "date",
        "at": "timestamp", "local": "timestamp_ntz", "a b.c`d": "string",
    }
)  # fmt: skip
OLD = datetime(1, 1, 1, tzinfo=UTC)
LATE = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)


def row(at: datetime, **changed: Any) -> dict[str, Any]:
    values = {
        "b": -128, "s": 32767, "i": -(2**31), "l": 2**63 - 1, "f": 0.5, "d": 1e308,
        "p9": Decimal("-1234567.89"), "p18": Decimal("0.0001"),
        "p38": Decimal("12345678901234567890.123456789012345678"),
        "text": "é💥" * 40, "yes": True, "raw": b"\x00\xff", "day": at.date(),
        "at": at, "local": at.replace(tzinfo=None), "a b.c`d": "odd",
    }  # fmt: skip
    return {**values, **changed}


ROWS = [row(OLD), row(LATE), dict.fromkeys(EVERYTHING.names)]


def staged(
    session: SparkSession,
    lake: Path,
    rows: list[dict[str, Any]],
    declared: TableSchema,
    **more: Any,
) -> Candidate:
    made = plan(lake, parquet(), declared)
    values = [tuple(item[name] for name in declared.names) for item in rows]
    frame = session.createDataFrame(values, spark_schema(declared))
    batch = Batch(frame, declared, (), None, lambda error: StagingFailed(
        dataset="x", reason=str(error)), lambda: None)  # fmt: skip
    candidate = stage(frame, batch, made, LocalStorage())
    return seal(candidate, made, LocalStorage()).result()


def test_every_type_comes_back_as_it_went_in(
    spark: SparkSession, session: SparkSession, tmp_path: Path
) -> None:
    lake = tmp_path / "odd [lake] {1} é"
    candidate = staged(session, lake, ROWS, EVERYTHING)
    location = candidate.location
    table = Governed(location, create_governed(location, EVERYTHING))
    commit_publish(table.intent(*candidate.files, table_schema=EVERYTHING, load=LoadType.FULL))

    def expected(values: list[dict[str, Any]]) -> list[Any]:
        return sorted((tuple(item[name] for name in EVERYTHING.names) for item in values), key=str)

    by_deltalake = pa.table(DeltaTable(location).scan().read_all()).to_pylist()
    assert expected(by_deltalake) == expected(ROWS)
    by_spark = spark.read.format("delta").load(location)
    by_plain_spark = session.read.schema(spark_schema(EVERYTHING)).parquet(
        *(str(Path(location, file.path)).replace("[", "\\[").replace("{", "\\{").replace("}", "\\}")
          .replace("]", "\\]") for file in candidate.files)
    )  # fmt: skip
    texts = [f"CAST(`{name.replace('`', '``')}` AS STRING)" for name in EVERYTHING.names]
    assert sorted(by_spark.selectExpr(*texts).collect(), key=str) == sorted(
        by_plain_spark.selectExpr(*texts).collect(), key=str
    )
    assert by_spark.where("at = timestamp'0001-01-01T00:00:00Z'").count() == 1
    assert (
        by_spark.where("at > timestamp'9999-12-31T23:59:59Z' AND day > '9999-01-01'").count() == 1
    )
    assert by_spark.where(f"text = '{ROWS[0]['text']}'").count() == 2
    with duckdb.connect() as connection:
        files = [str(Path(location, file.path)) for file in candidate.files]
        low = connection.execute("SELECT min(year(day)) FROM read_parquet($f)", {"f": files})
        assert low.fetchone() == (date(1, 1, 1).year,)


def test_a_batch_of_no_row_stages_no_file(session: SparkSession, tmp_path: Path) -> None:
    candidate = staged(session, tmp_path, [], EVERYTHING)
    assert (candidate.files, candidate.rows) == ((), 0)


def test_a_folder_that_is_already_there_is_refused(session: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "bronze" / "orders" / "runs" / "run_1").mkdir(parents=True)
    with pytest.raises(StagingFailed, match="already exists"):
        staged(session, tmp_path, [], EVERYTHING)


def test_a_frame_that_is_not_as_declared_is_refused(session: SparkSession, tmp_path: Path) -> None:
    declared = schema(n="long")
    frame = session.createDataFrame([(1,)], spark_schema(schema(N="long")))
    batch = Batch(frame, declared, (), None, lambda error: StagingFailed(
        dataset="x", reason=str(error)), lambda: None)  # fmt: skip
    with pytest.raises(StagingFailed, match="columns N instead of n"):
        stage(frame, batch, plan(tmp_path, parquet(), declared), LocalStorage())


def test_an_origin_that_changes_while_it_is_read_fails_the_run(
    session: SparkSession, tmp_path: Path
) -> None:
    declared = schema(n="long")
    frame = session.createDataFrame([(1,)], spark_schema(declared))

    def changed() -> None:
        raise StagingFailed(dataset="x", reason="it moved")

    batch = Batch(frame, declared, (), None, lambda error: StagingFailed(
        dataset="x", reason=str(error)), changed)  # fmt: skip
    with pytest.raises(StagingFailed, match="it moved"):
        stage(frame, batch, plan(tmp_path, parquet(), declared), LocalStorage())

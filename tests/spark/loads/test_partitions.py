"""Partitioned tables: for any values, every engine reads the rows that were written."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from lakeguard.lake.delta import DeltaTables
from lakeguard_sdk.core.enums import (
    LoadType,
    MoveKind,
    RunStatus,
    Scope,
)
from lakeguard_sdk.expressions.conditions import (
    ColumnRef,
    Compare,
    Comparison,
    IsNull,
    Value,
)
from lakeguard_sdk.expressions.measures import (
    Aggregate,
    AggregateFunction,
    CountIf,
    DuplicateRows,
    measure_key,
)
from lakeguard_sdk.model.evidence import InputVersion
from lakeguard_sdk.model.run import (
    InputPin,
    Intent,
    RunResult,
    TableBase,
    TableSnapshot,
)
from openlaketx.engine.delta_table import live_files
from openlaketx.extract.pinned_inputs import files_to_read, read_pinned
from openlaketx.worker import create_worker
from tests.support.lakes.plain_runs import PlainRuns
from tests.support.lakes.plans import DATASET, parquet, schema
from tests.unit.openlaketx.governed import DATASET_ID

pytestmark = pytest.mark.spark

DECLARED = schema(region="string", n="long", k="integer", day="date", ok="boolean", v="string")
ARROW = pa.schema(
    [
        ("region", pa.string()),
        ("n", pa.int64()),
        ("k", pa.int32()),
        ("day", pa.date32()),
        ("ok", pa.bool_()),
        ("v", pa.string()),
    ]
)
AWKWARD = [
    "a b", " ", "a/b", "../x", "100%", "%41", "k=v", "é💥", "e\u0301", "__HIVE_DEFAULT_PARTITION__",
    "x:y?#[*]{}", "'\"\\", "line\nbreak", "A", "a", "long " * 300, None,
]  # fmt: skip
Row = tuple[Any, ...]


def row(region: str | None, n: int, **more: Any) -> dict[str, Any]:
    values = {"k": n % 3, "day": date(1, 1, 1 + n % 28), "ok": n % 2 == 0, "v": f"v{n}"}
    return {"region": region, "n": n, **values, **more}


def land(lake: Path, name: str, rows: list[dict[str, Any]]) -> list[Row]:
    (lake / "in").mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, ARROW), lake / "in" / f"{name}.parquet")
    return [tuple(item[name] for name in DECLARED.names) for item in rows]


def run(runs: PlainRuns) -> RunResult:
    return create_worker(runs.client(), spark_options={}).run_task("task_1")


@pytest.fixture
def runs(spark: SparkSession, tmp_path: Path) -> PlainRuns:
    lake = tmp_path / "odd [lake] k=v é"
    by = ("region", "k", "ok")
    return PlainRuns(lake, DATASET, DECLARED, parquet(), LoadType.APPEND, partition_by=by)


def by_deltalake(location: str, version: int | None = None) -> list[Row]:
    found = pa.table(DeltaTable(location, version=version).scan().read_all())
    return _sorted(tuple(item[name] for name in DECLARED.names) for item in found.to_pylist())


def by_duckdb(location: str) -> list[Row]:
    shown = DeltaTable(location).to_pyarrow_dataset()
    with duckdb.connect() as connection:
        connection.register("shown", shown)
        found = connection.execute("SELECT region, n, k, day, ok, v FROM shown").fetchall()
    files = [str(Path(location, path)) for path in live_files(DeltaTable(location))]
    with duckdb.connect() as connection:
        listed = connection.execute(
            "SELECT region, n, k, day, ok, v FROM read_parquet($f, hive_partitioning = false)",
            {"f": [file.replace("[", "[[]") for file in files]},
        ).fetchall()
    assert _sorted(listed) == _sorted(found), "by the log, and by the names of its files"
    return _sorted(found)


def by_spark(spark: SparkSession, location: str) -> list[Row]:
    found = spark.read.format("delta").load(location).select(*DECLARED.names).collect()
    return _sorted(tuple(item) for item in found)


def _sorted(rows: Any) -> list[Row]:
    return sorted(rows, key=lambda item: (item[1], str(item)))


def test_full_append_and_rollback_are_read_alike_by_every_engine(
    spark: SparkSession, runs: PlainRuns
) -> None:
    location = runs.location

    def shown(rows: list[Row]) -> None:
        wanted = _sorted(rows)
        assert by_deltalake(location) == wanted
        assert by_duckdb(location) == wanted
        assert by_spark(spark, location) == wanted

    first = land(runs.lake, "a", [row(value, n) for n, value in enumerate(AWKWARD)] * 2)
    assert run(runs).version == 1
    shown(first)
    one = runs.evidence[-1]
    assert {file.partition["region"] for file in one.files} == set(AWKWARD)
    assert all(len(file.sha256) == 64 for file in one.files)
    runs.continue_source(one.position)
    second = land(runs.lake, "b", [row("a b", 100), row(None, 101, k=None, ok=None)])
    assert run(runs).version == 2
    shown(first + second)
    assert by_spark(spark, location) == by_deltalake(location)
    for value in AWKWARD[:-1]:
        text = value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
        found = spark.read.format("delta").load(location).where(f"region = '{text}'")
        assert found.count() == (3 if value == "a b" else 2), "pruned by partition"
    assert spark.read.format("delta").load(location).where("region IS NULL").count() == 3

    runs.load, runs.build = LoadType.FULL, parquet("in/b.parquet")
    assert run(runs).version == 3
    shown(second)
    commit = restore(runs, to=2)
    shown(first + second)
    runs.load = LoadType.APPEND
    runs.build = parquet("in/c.parquet")
    runs.base = TableBase(
        version=2, commit=commit, table_id=str(DeltaTable(location).metadata().id)
    )
    third = land(runs.lake, "c", [row("a b", 200)])
    assert run(runs).status is RunStatus.SUCCESS
    shown(first + second + third)


def restore(runs: PlainRuns, to: int) -> int:
    """The control plane's rollback on the same table."""
    head = DeltaTable(runs.location).version()
    runs.seq += 1
    fields: dict[str, Any] = {
        "intent_id": f"int_{runs.seq}", "kind": MoveKind.ROLLBACK, "dataset": DATASET,
        "dataset_id": DATASET_ID, "run_id": "run_back", "decision_id": "dec_back",
        "seq": runs.seq, "location": runs.location, "base_commit": head, "target_commit": to,
        "table_id": str(DeltaTable(runs.location).metadata().id), "table_schema": DECLARED,
    }  # fmt: skip
    return DeltaTables().restore(Intent(**fields))


def test_measures_see_partition_columns_as_any_other(runs: PlainRuns) -> None:
    region, k = ColumnRef(name="region", type="string"), ColumnRef(name="k", type="integer")
    day = ColumnRef(name="day", type="date")
    questions = {
        CountIf(condition=IsNull(of=region)): 1,
        CountIf(
            condition=Compare(op=Comparison.EQ, left=k, right=Value(type="integer", text="1"))
        ): 2,
        Aggregate(function=AggregateFunction.MAX, column=k): 2,
        Aggregate(function=AggregateFunction.SUM, column=k): 4,
        Aggregate(function=AggregateFunction.MIN, column=day): "0001-01-01",
        DuplicateRows(columns=(region, k), scope=Scope.TABLE): 4,
    }
    runs.partition_by, runs.measures = ("region", "k", "day"), tuple(questions)
    land(runs.lake, "a", [row("x", 0)])
    assert run(runs).version == 1
    runs.build = parquet("in/b.parquet")
    land(runs.lake, "b", [row("x", 0), row("x", 1), row("x", 4), row(None, 2)])
    assert run(runs).version == 2
    reported = runs.evidence[-1].measures
    assert runs.evidence[-1].unmeasured == {}
    assert reported == {measure_key(asked): answer for asked, answer in questions.items()}


def test_a_build_reads_a_partitioned_input_with_its_columns(
    spark: SparkSession, session: SparkSession, runs: PlainRuns
) -> None:
    rows = land(runs.lake, "a", [row("x y", 1), row(None, 2, k=None)])
    assert run(runs).version == 1
    assert runs.base is not None
    pin = InputPin(
        input=InputVersion(dataset=DATASET, dataset_id=DATASET_ID, version=1),
        snapshot=TableSnapshot(
            location=runs.location, table_id=runs.base.table_id, commit=runs.base.commit
        ),
        table_schema=DECLARED,
    )
    frame = read_pinned(session, pin, files_to_read(pin, "silver.x"))
    assert tuple(frame.columns) == DECLARED.names
    assert _sorted(tuple(item) for item in frame.collect()) == _sorted(rows)


def test_an_empty_text_cannot_be_a_partition(runs: PlainRuns) -> None:
    land(runs.lake, "a", [row("", 1)])
    result = run(runs)
    assert (result.status, runs.evidence) == (RunStatus.FAILED, [])
    assert result.error is not None
    assert "partition column region has an empty string" in result.error.message
    assert not DeltaTable.is_deltatable(runs.location)


def test_a_batch_of_no_row_leaves_the_table_empty(spark: SparkSession, runs: PlainRuns) -> None:
    land(runs.lake, "a", [])
    assert run(runs).version == 1
    assert by_spark(spark, runs.location) == by_deltalake(runs.location) == []


def test_a_small_partition_is_one_file(runs: PlainRuns) -> None:
    land(runs.lake, "a", [row("x", n) for n in range(40)])
    assert run(runs).version == 1
    files = runs.evidence[-1].files
    assert len(files) == len({tuple(file.partition.items()) for file in files}), "one file each"

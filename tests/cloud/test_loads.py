"""Every load on a table in an object store makes the rows that it makes in a folder."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakeguard_sdk.core.enums import LoadType, RunStatus
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.storage.storage import storage_for
from openlaketx.engine.spark.session import spark_session
from openlaketx.worker import create_worker
from tests.support.cases.load_variants import VARIANTS
from tests.support.lakes.loaded_tables import TABLE, LoadedTable, Row
from tests.support.lakes.s3_server import S3Server, StorePath
from tests.support.projects.definitions import rule
from tests.support.projects.projects import settings_dropped

COLUMNS = {"k": "string", "n": "long", "v": "string", "g": "string", "at": "timestamp"}
WIDER = {**COLUMNS, "later": "long"}
CHOSEN = {
    LoadType.FULL: "plain",
    LoadType.APPEND: "plain",
    LoadType.PARTITION: "plain",
    LoadType.INCREMENTAL: "parts",
    LoadType.SNAPSHOT: "soft",
    LoadType.CDC: "hard",
    LoadType.SCD2: "timed",
}


@pytest.fixture(scope="module")
def spark(s3_server: S3Server, bucket: StorePath) -> SparkSession:
    """With Delta, and with access to the bucket."""
    return spark_session(s3_server.options.spark_options("lakes"), delta=True)


@pytest.fixture
def in_store(
    spark: SparkSession, s3_server: S3Server, store: StorePath, tmp_path: Path
) -> Iterator[Path]:
    with s3_server.lakes_in(store):
        yield tmp_path / "in store"


def row(k: str, n: int, v: str, op: str = "update") -> Row:
    at = datetime(2026, 1, n, tzinfo=UTC)
    return {"k": k, "n": n, "v": v, "g": k[0], "at": at, "op": op}


BATCHES = (
    [row("a1", 1, "one"), row("a2", 1, "two"), row("b1", 1, "three")],
    [row("a1", 2, "changed"), row("c1", 2, "new")],
    [row("a2", 3, "two", "delete"), row("b1", 3, "again")],
)


def loaded(table: LoadedTable) -> LoadedTable:
    for number, batch in enumerate(BATCHES):
        if number == len(BATCHES) - 1:
            table.redefine(columns=WIDER)
        rows = batch if table.load.operation else [{**one, "op": None} for one in batch]
        table.land([{**one, "later": number} for one in rows])
        result = table.run()
        assert result.status is RunStatus.SUCCESS, result.error
    return table


def ordered(rows: list[Row]) -> list[str]:
    return sorted(repr(sorted(row.items())) for row in rows)


_LONG = (LoadType.INCREMENTAL, LoadType.SNAPSHOT, LoadType.SCD2)
"""They write as CDC does."""


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, id=str(kind), marks=pytest.mark.exhaustive if kind in _LONG else ())
        for kind in CHOSEN
    ],
)
def test_a_load_makes_the_same_rows_as_in_a_folder(
    kind: LoadType, in_store: Path, spark: SparkSession
) -> None:
    load = VARIANTS[kind][CHOSEN[kind]]
    remote = loaded(LoadedTable(in_store, load, COLUMNS))
    rows = remote.by_deltalake()
    assert rows
    assert ordered(remote.by_spark(spark)) == ordered(rows)
    report = remote.client.ledger.verify(replay=True)
    assert report.findings == ()
    expected = _in_folder(load, in_store.with_name("in folder"))
    assert ordered(rows) == ordered(expected)


def _in_folder(load: Load, folder: Path) -> list[Row]:
    with settings_dropped():
        return loaded(LoadedTable(folder, load, COLUMNS)).by_deltalake()


def test_past_runs_are_rebuilt_and_leave_nothing(in_store: Path, store: StorePath) -> None:
    table = LoadedTable(in_store, VARIANTS[LoadType.CDC]["hard"], COLUMNS)
    loaded(table)
    runs = [version.run_id for version in table.client.reader.versions(TABLE)]
    assert len(runs) == len(BATCHES)
    before = set(storage_for(str(store)).files_under(str(store)))
    worker = create_worker(table.client.for_worker(), spark_options={})
    for run_id in runs:
        assert run_id is not None
        found = worker.rebuild(table.client.history.rebuild_plan(run_id))
        assert found.same, found
    assert set(storage_for(str(store)).files_under(str(store))) == before


def test_failing_rows_are_quarantined_and_the_rest_is_compacted(in_store: Path) -> None:
    rules = (rule("le(n, value=2) on_fail quarantine"),)
    table = LoadedTable(in_store, VARIANTS[LoadType.APPEND]["plain"], COLUMNS, rules)
    for batch in BATCHES:
        table.land(batch)
        assert table.run().status is RunStatus.SUCCESS
    assert sorted(one["k"] for one in table.by_duckdb()) == ["a1", "a1", "a2", "b1", "c1"]
    waiting = table.client.reader.quarantine(TABLE)
    assert sum(entry.rows for entry in waiting) == 2
    task = table.client.operations.submit_compaction(TABLE, "tests")
    worker = create_worker(table.client.for_worker(), spark_options={})
    assert worker.run_compaction(task).status is RunStatus.SUCCESS
    assert len(table.files()) == 1
    assert len(table.by_deltalake()) == 5
    assert table.client.ledger.verify(replay=True).findings == ()

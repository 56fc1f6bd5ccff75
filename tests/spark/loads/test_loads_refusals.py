"""Rejected loads: the run fails with a reason, and the table is unchanged."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from lakeguard_sdk.core.enums import (
    Deletes,
    LoadType,
    NullWatermark,
    RunStatus,
)
from lakeguard_sdk.model.load import Load
from tests.support.lakes.loaded_tables import LoadedTable, Row

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

COLUMNS = {"k": "long", "n": "long", "v": "string"}
MERGED = Load(type=LoadType.INCREMENTAL, keys=("k", "n"))
FEED = Load(type=LoadType.CDC, keys=("k",), order_by=("n",), operation="op")


def row(k: int | None, n: int | None, v: str | None = "x", **more: object) -> Row:
    return {"k": k, "n": n, "v": v, **more}


def refused(table: LoadedTable, code: str = "LG-5010") -> str:
    """Why the next run fails; the published rows are unchanged."""
    before = table.by_deltalake()
    result = table.run()
    assert result.status is RunStatus.FAILED
    assert result.error is not None
    assert result.error.code == code
    assert table.by_deltalake() == before
    return result.error.message


def begun(folder: Path, load: Load, *rows: Row) -> LoadedTable:
    table = LoadedTable(folder / "project", load, COLUMNS)
    table.land(rows)
    assert table.run().version == 1
    return table


def test_a_row_without_its_key_is_counted(tmp_path: Path) -> None:
    table = begun(tmp_path, MERGED, row(1, 1))
    table.land([row(None, 1), row(2, None), row(None, None), row(2, 2)])
    assert "3 of 4 rows have NULL in their key (k, n)" in refused(table)


def test_rows_that_contradict_each_other_are_named(tmp_path: Path) -> None:
    table = begun(tmp_path, MERGED, row(1, 1))
    table.land([row(2, 7, "x"), row(2, 7, "y"), row(3, 1), row(3, 1)])
    reported = refused(table)
    assert "several rows of the key (k, n) = (2, 7) differ" in reported
    assert "has no order_by" in reported


def test_an_order_that_does_not_order_is_named(tmp_path: Path) -> None:
    load = Load(type=LoadType.INCREMENTAL, keys=("k",), order_by=("n",))
    table = begun(tmp_path, load, row(1, 1))
    table.land([row(2, 7, "x"), row(2, 7, None), row(2, 6)])
    assert "several rows of the key (k) = (2) differ, and n does not order them" in refused(table)


@pytest.mark.parametrize(
    ("given", "shown"), [("truncate", "'truncate'"), (None, "NULL"), ("", "''")]
)
def test_an_operation_that_nobody_knows_is_named(
    tmp_path: Path, given: str | None, shown: str
) -> None:
    table = begun(tmp_path, FEED, row(1, 1, op="insert"))
    table.land([row(1, 2, op="U"), row(2, 2, op=given)])
    assert f"op is {shown}, which is not one of i, insert" in refused(table)


def test_operations_are_read_in_every_usual_spelling(tmp_path: Path) -> None:
    given = ["i", "INSERT", " c ", "Create", "r", "read", "u", "Update", "UPSERT"]
    table = begun(tmp_path, FEED, *(row(k, 1, op=word) for k, word in enumerate(given)))
    table.land([row(0, 2, op="D"), row(1, 2, op=" Delete ")])
    table.run()
    assert {found["k"] for found in table.by_deltalake()} == set(range(2, len(given)))


def test_an_empty_snapshot_is_refused(tmp_path: Path) -> None:
    table = begun(tmp_path, Load(type=LoadType.SNAPSHOT, keys=("k",)), row(1, 1), row(2, 1))
    table.land([], alone=True)
    reported = refused(table)
    assert "would delete all 2 rows" in reported
    assert "allow_empty: true" in reported


@pytest.mark.parametrize("deletes", list(Deletes))
def test_an_empty_snapshot_is_loaded_where_that_is_meant(tmp_path: Path, deletes: Deletes) -> None:
    load = Load(type=LoadType.SNAPSHOT, keys=("k",), allow_empty=True, deletes=deletes)
    table = begun(tmp_path, load, row(1, 1), row(2, 1))
    table.land([], alone=True)
    assert table.run().version == 2
    left = [found["is_deleted"] for found in table.by_deltalake()]
    assert left == ([] if deletes is Deletes.HARD else [True, True])


def test_a_row_without_a_watermark_is_refused(tmp_path: Path) -> None:
    load = Load(type=LoadType.APPEND, watermark="n", null_watermark=NullWatermark.REFUSE)
    table = begun(tmp_path, load, row(1, 1))
    table.land([row(2, None)])
    assert "a row has NULL in the watermark column n" in refused(table, "LG-5003")


def test_a_state_without_its_time_is_refused(tmp_path: Path) -> None:
    columns = {**COLUMNS, "at": "timestamp"}
    load = Load(type=LoadType.SCD2, keys=("k",), effective="at")
    table = LoadedTable(tmp_path / "project", load, columns)
    table.land([row(1, 1, at=datetime(2024, 1, 1, tzinfo=UTC))])
    table.run()
    table.land([row(1, 1, at=None)])
    assert "1 of 1 rows have NULL in their key (k, at)" in refused(table)


def test_a_table_with_a_key_twice_is_not_merged_into(tmp_path: Path) -> None:
    """Loaded differently before; whichever row is updated, the other contradicts it."""
    table = begun(tmp_path, Load(type=LoadType.APPEND), row(1, 1, "x"), row(1, 1, "y"))
    table.redefine(load=MERGED)
    table.land([row(1, 1, "z")])
    before = table.by_deltalake()
    result = table.run()
    assert result.status is RunStatus.FAILED
    assert result.error is not None
    assert "several rows of one key (k, n)" in result.error.message
    assert table.by_deltalake() == before

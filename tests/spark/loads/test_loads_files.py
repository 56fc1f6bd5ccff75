"""A load rewrites only files with a changed row."""

from __future__ import annotations

from pathlib import Path

import pytest
from deltalake import DeltaTable

from lakeguard_sdk.core.enums import Deletes, LoadType, RunStatus
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.run import Window
from tests.support.fakes.killed_at import meanwhile
from tests.support.lakes.load_histories import AFTER_COMMIT, BEFORE_COMMIT, stop
from tests.support.lakes.loaded_tables import LoadedTable, Row

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

COLUMNS = {"k": "long", "v": "string"}
MERGED = Load(type=LoadType.INCREMENTAL, keys=("k",))


def rows(*keys: int, v: str = "x") -> list[Row]:
    return [{"k": key, "v": v} for key in keys]


def loaded(folder: Path, load: Load, *batches: list[Row]) -> LoadedTable:
    table = LoadedTable(folder, load, COLUMNS)
    for batch in batches:
        table.land(batch)
        assert table.run().status is RunStatus.SUCCESS
    return table


@pytest.mark.parametrize("kind", ["INCREMENTAL", "APPEND", "SNAPSHOT", "CDC", "SCD2"])
def test_a_batch_that_changes_nothing_makes_no_version(tmp_path: Path, kind: str) -> None:
    feed = {"operation": "op", "order_by": ("k",)} if kind == "CDC" else {}
    load = Load(type=LoadType(kind), keys=("k",), **feed)
    batch = [{**row, "op": "u"} if feed else row for row in rows(1, 2)]
    table = loaded(tmp_path / "project", load, batch)
    before = table.files()
    table.land(batch, alone=True)
    result = table.run()
    assert (result.status, result.version) == (RunStatus.SUCCESS, None)
    assert table.files() == before


def test_only_the_file_with_a_changed_row_is_written_again(tmp_path: Path) -> None:
    """The three files have disjoint keys, so two of them are not read at all."""
    batches = (rows(1, 2), rows(11, 12), rows(21, 22))
    table = loaded(tmp_path / "project", MERGED, *batches)
    before = table.files()
    table.land(rows(11, v="y"))
    assert table.run().version == 4
    assert table.heard.evidence is not None
    assert len(table.heard.evidence.removes) == 1
    assert len(before & table.files()) == 2
    assert {(row["k"], row["v"]) for row in table.by_deltalake()} == {
        (1, "x"), (2, "x"), (11, "y"), (12, "x"), (21, "x"), (22, "x"),
    }  # fmt: skip


def test_a_file_that_overlaps_and_holds_no_changed_row_stays(tmp_path: Path) -> None:
    table = loaded(tmp_path / "project", MERGED, rows(1, 9), rows(2, 8))
    before = table.files()
    table.land(rows(2, 5, v="y"))
    table.run()
    assert table.heard.evidence is not None
    assert len(table.heard.evidence.removes) == 1
    assert len(before & table.files()) == 1
    assert {row["k"] for row in table.by_deltalake()} == {1, 2, 5, 8, 9}


def test_inserts_alone_touch_no_file(tmp_path: Path) -> None:
    table = loaded(tmp_path / "project", MERGED, rows(1, 9))
    before = table.files()
    table.land(rows(3, 4))
    table.run()
    assert before < table.files()


@pytest.mark.parametrize("deletes", list(Deletes))
def test_a_delete_touches_the_file_of_its_row(tmp_path: Path, deletes: Deletes) -> None:
    load = Load(type=LoadType.CDC, keys=("k",), order_by=("v",), operation="op", deletes=deletes)
    first, second = ([{**row, "op": "i"} for row in rows(*keys)] for keys in ((1, 2), (11, 12)))
    table = loaded(tmp_path / "project", load, first, second)
    before = table.files()
    table.land([{"k": 12, "v": "y", "op": "d"}])
    table.run()
    assert len(before - table.files()) == 1
    live = {row["k"] for row in table.by_deltalake() if not row.get("is_deleted")}
    assert live == {1, 2, 11}


def test_full_is_skipped_where_nothing_is_new(tmp_path: Path) -> None:
    load = Load(type=LoadType.FULL, skip_unchanged=True)
    table = loaded(tmp_path / "project", load, rows(1))
    result = table.run()
    assert (result.status, result.version) == (RunStatus.SUCCESS, None)
    table.land(rows(2))
    assert table.run().version == 2
    assert sorted(row["k"] for row in table.by_deltalake()) == [1, 2]


def test_a_column_more_leaves_old_files_as_they_are(tmp_path: Path) -> None:
    table = loaded(tmp_path / "project", Load(type=LoadType.APPEND), rows(1), rows(2))
    location, _ = table.at()
    root = Path(location.removeprefix("file://"))
    nodes = {(root / path).stat().st_ino for path in table.files()}
    table.redefine(columns={**COLUMNS, "w": "string"})
    table.clear()
    table.land([{"k": 3, "v": "x", "w": "new"}])
    assert table.run().version == 3
    assert nodes < {(root / path).stat().st_ino for path in table.files()}
    found = {(row["k"], row["w"]) for row in table.by_deltalake()}
    assert found == {(1, None), (2, None), (3, "new")}
    assert {(row["k"], row["w"]) for row in table.by_duckdb()} == found


def test_columns_in_another_order_keep_their_ranges(tmp_path: Path) -> None:
    """A wrong range in the log makes readers skip rows silently."""
    numbers = {"a": "long", "b": "long"}
    table = LoadedTable(tmp_path / "project", Load(type=LoadType.APPEND), numbers)
    table.land([{"a": 1, "b": 100}])
    table.run()
    table.redefine(columns={"b": "long", "a": "long", "c": "long"})
    table.clear()
    table.land([{"a": 2, "b": 200, "c": 3}])
    table.run()
    location, commit = table.at()
    reported = DeltaTable(location, version=commit).get_add_actions(flatten=True)
    lowest = zip(reported["min.a"].to_pylist(), reported["min.b"].to_pylist(), strict=True)
    assert set(lowest) == {(1, 100), (2, 200)}


def test_a_window_is_filled_back_from_every_file(tmp_path: Path) -> None:
    """Also from files read before: otherwise the window's rows would be lost."""
    table = loaded(tmp_path / "project", Load(type=LoadType.APPEND), rows(1, 2), rows(3, 4))
    table.land(rows(9))
    result = table.run(Window(column="k", start="2", end="3"))
    assert result.version == 3
    assert sorted(row["k"] for row in table.by_deltalake()) == [1, 2, 3, 4]
    table.run()
    assert sorted(row["k"] for row in table.by_deltalake()) == [1, 2, 3, 4, 9]


def test_a_row_that_moves_into_the_window_is_there_once(tmp_path: Path) -> None:
    load = Load(type=LoadType.SNAPSHOT, keys=("v",))
    batch = [{"k": 1, "v": "moves"}, {"k": 2, "v": "stays"}, {"k": 8, "v": "goes"}]
    table = loaded(tmp_path / "project", load, batch)
    table.land([{"k": 7, "v": "moves"}], alone=True)
    table.run(Window(column="k", start="5", end="9"))
    assert {(row["k"], row["v"]) for row in table.by_deltalake()} == {(7, "moves"), (2, "stays")}
    assert len(table.by_deltalake()) == 2


@pytest.mark.parametrize("point", BEFORE_COMMIT + AFTER_COMMIT)
def test_a_run_after_a_crash_makes_the_table_of_one_without(tmp_path: Path, point: str) -> None:
    batches = (rows(1, 2, 3), [*rows(2, v="y"), *rows(4)])
    calm = loaded(tmp_path / "calm", MERGED, *batches)
    table = loaded(tmp_path / "crashed", MERGED, batches[0])
    table.land(batches[1])
    with meanwhile(point, stop):
        result = table.run()
    stands = point in AFTER_COMMIT
    assert result.status is (RunStatus.SUCCESS if stands else RunStatus.FAILED)
    again = table.run()
    assert again.version == (None if stands else 2)
    assert sorted(map(str, table.by_deltalake())) == sorted(map(str, calm.by_deltalake()))
    assert table.client.ledger.verify().findings == ()


def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    table = loaded(tmp_path / "é a+b #1? {x}", MERGED, rows(1, 2))
    table.land(rows(2, v="y"))
    table.run()
    assert {(row["k"], row["v"]) for row in table.by_deltalake()} == {(1, "x"), (2, "y")}

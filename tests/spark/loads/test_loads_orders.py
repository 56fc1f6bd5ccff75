"""Order and time: late rows do not overwrite newer ones, and all changes are counted."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lakeguard_sdk.core.enums import (
    Deletes,
    HashStrategy,
    LoadType,
    RunStatus,
)
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.run import Window
from tests.support.lakes.loaded_tables import LoadedTable, Row

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

COLUMNS = {"k": "long", "n": "long", "v": "string"}
SOFT = Load(type=LoadType.CDC, keys=("k",), order_by=("n",), operation="op", deletes=Deletes.SOFT)


def event(k: int, n: int, op: str = "u", v: str = "x") -> Row:
    return {"k": k, "n": n, "v": v, "op": op}


def loaded(folder: Path, load: Load, columns: dict[str, str], *batches: list[Row]) -> LoadedTable:
    table = LoadedTable(folder / "project", load, columns)
    for batch in batches:
        table.land(batch, alone=load.type is LoadType.SNAPSHOT)
        assert table.run().status is RunStatus.SUCCESS
    return table


def counts(table: LoadedTable, *names: str) -> tuple[int, ...]:
    assert table.changes is not None
    return tuple(getattr(table.changes, name) for name in names)


def test_what_came_before_a_delete_does_not_bring_the_row_back(tmp_path: Path) -> None:
    """The second delete does not change the row, but proves how long it has been deleted."""
    batches = [event(1, 1)], [event(1, 5, "d")], [event(1, 9, "d")], [event(1, 7)]
    table = loaded(tmp_path, SOFT, COLUMNS, *batches[:3])
    (before,) = table.by_deltalake()
    table.land(batches[3])
    table.run()
    assert table.by_deltalake() == [before]
    assert (before["n"], before["is_deleted"]) == (9, True)


def test_a_row_deleted_twice_keeps_the_time_of_the_first(tmp_path: Path) -> None:
    table = loaded(tmp_path, SOFT, COLUMNS, [event(1, 1)], [event(1, 5, "d")])
    first = table.by_deltalake()[0]["deleted_at"]
    table.land([event(1, 9, "d")])
    table.run()
    assert table.by_deltalake()[0]["deleted_at"] == first
    table.land([event(1, 10)])
    table.run()
    assert table.by_deltalake() == [
        {"k": 1, "n": 10, "v": "x", "is_deleted": False, "deleted_at": None}
    ]


@pytest.mark.parametrize("deletes", list(Deletes))
def test_every_event_of_a_feed_is_counted_once(tmp_path: Path, deletes: Deletes) -> None:
    load = SOFT.model_copy(update={"deletes": deletes})
    table = loaded(tmp_path, load, COLUMNS, [event(k, 5) for k in (1, 2, 3, 4)])
    table.land([
        event(1, 6, "d"), event(2, 6, v="y"), event(3, 5), event(4, 1, v="late"),
        event(5, 1), event(6, 1, "d"), event(2, 3),
    ])  # fmt: skip
    table.run()
    gone = (0, 1) if deletes is Deletes.HARD else (1, 0)
    kept = 1 if deletes is Deletes.SOFT else 0  # the delete of a key that never was
    reported = counts(table, "inserted", "late", "duplicates", "unchanged")
    assert reported == (1 + kept, 1, 1, 2 - kept)
    assert counts(table, "updated", "deleted") == (1 + gone[0], gone[1])


@pytest.mark.parametrize("deletes", list(Deletes))
def test_a_snapshot_counts_its_own_rows_as_unchanged(tmp_path: Path, deletes: Deletes) -> None:
    load = Load(type=LoadType.SNAPSHOT, keys=("k",), deletes=deletes)
    before = [{"k": k, "n": 1, "v": "x"} for k in (1, 2, 3, 4)]
    table = loaded(tmp_path, load, COLUMNS, before, [*before[:2], {"k": 5, "n": 1, "v": "x"}])
    gone = (0, 2) if deletes is Deletes.HARD else (2, 0)
    assert counts(table, "inserted", "unchanged", "updated", "deleted") == (1, 2, *gone)


def day(number: int) -> datetime:
    return datetime(2024, 1, number, tzinfo=UTC)


TIMED = {**COLUMNS, "at": "timestamp"}


def state(at: int, v: str, n: int = 1, **more: Any) -> Row:
    return {"k": 1, "n": n, "v": v, "at": day(at), **more}


def history(table: LoadedTable) -> list[tuple[str, int, int | None]]:
    rows = sorted(table.by_deltalake(), key=lambda row: row["valid_from"])
    assert [row["is_current"] for row in rows] == [row["valid_to"] is None for row in rows]
    return [
        (row["v"], row["valid_from"].day, row["valid_to"] and row["valid_to"].day) for row in rows
    ]


def test_late_rows_fall_into_their_place(tmp_path: Path) -> None:
    load = Load(type=LoadType.SCD2, keys=("k",), effective="at")
    first, second = [state(2, "a"), state(6, "b")], [state(4, "c"), state(1, "d")]
    table = loaded(tmp_path, load, TIMED, first, second)
    assert history(table) == [("d", 1, 2), ("a", 2, 4), ("c", 4, 6), ("b", 6, None)]
    table.land([state(5, "b")])
    table.run()
    assert history(table) == [("d", 1, 2), ("a", 2, 4), ("c", 4, 5), ("b", 5, None)]
    assert counts(table, "inserted", "updated", "deleted") == (1, 1, 1)


def test_a_state_ends_with_a_delete_and_begins_again(tmp_path: Path) -> None:
    load = Load(type=LoadType.SCD2, keys=("k",), effective="at", operation="op")
    first = [state(1, "a", op="i"), state(3, "", op="d")]
    table = loaded(tmp_path, load, TIMED, first)
    assert history(table) == [("a", 1, 3)]
    table.land([state(5, "a", op="i"), state(2, "b", op="u")])
    table.run()
    assert history(table) == [("a", 1, 2), ("b", 2, 3), ("a", 5, None)]


def test_an_older_word_on_the_same_moment_does_not_count(tmp_path: Path) -> None:
    load = Load(type=LoadType.SCD2, keys=("k",), effective="at", order_by=("n",))
    table = loaded(tmp_path, load, TIMED, [state(1, "corrected", n=5)])
    table.land([state(1, "first told", n=3), state(2, "next", n=1)])
    table.run()
    assert history(table) == [("corrected", 1, 2), ("next", 2, None)]


@pytest.mark.parametrize("strategy", [HashStrategy.NONE, HashStrategy.ROW_HASH])
def test_a_column_more_begins_no_state(tmp_path: Path, strategy: HashStrategy) -> None:
    load = Load(type=LoadType.SCD2, keys=("k",), effective="at", hash=strategy)
    table = loaded(tmp_path, load, TIMED, [state(1, "a")])
    table.redefine(columns={**TIMED, "w": "string"})
    table.clear()
    table.land([state(3, "a", w=None)])
    table.run()
    assert history(table) == [("a", 1, None)]


def test_a_column_more_changes_no_row(tmp_path: Path) -> None:
    load = Load(type=LoadType.INCREMENTAL, keys=("k",), hash=HashStrategy.ROW_HASH)
    row = {"k": 1, "n": 1, "v": "x"}
    table = loaded(tmp_path, load, COLUMNS, [row])
    table.redefine(columns={**COLUMNS, "w": "string"})
    table.clear()
    table.land([{**row, "w": None}])
    table.run()
    assert counts(table, "updated", "unchanged") == (0, 1)


def test_a_delete_of_a_key_that_never_was_keeps_older_events_out(tmp_path: Path) -> None:
    """However the events of a feed are split into files."""
    load = Load(
        type=LoadType.CDC, keys=("k",), operation="op", order_by=("at",), deletes=Deletes.SOFT
    )
    columns = {"k": "long", "v": "string", "at": "long"}
    table = LoadedTable(tmp_path / "project", load, columns)
    table.land([{"op": "i", "k": 1, "v": "a", "at": 1}, {"op": "d", "k": 1, "v": "a", "at": 4}])
    table.run()
    table.land([{"op": "u", "k": 1, "v": "late", "at": 3}])
    assert table.run().version is None
    (row,) = table.by_deltalake()
    assert (row["k"], row["at"], row["is_deleted"]) == (1, 4, True)


LATER: dict[str, Load] = {
    "INCREMENTAL": Load(type=LoadType.INCREMENTAL, keys=("k",)),
    "hashed": Load(type=LoadType.INCREMENTAL, keys=("k",), hash=HashStrategy.ROW_HASH),
    "parts": Load(type=LoadType.INCREMENTAL, keys=("k",), partition_by=("v",)),
    "ordered": Load(type=LoadType.INCREMENTAL, keys=("k",), order_by=("n",)),
    "CDC": Load(type=LoadType.CDC, keys=("k",), order_by=("n",), operation="op"),
    "SCD2": Load(type=LoadType.SCD2, keys=("k",)),
}


@pytest.mark.parametrize("load", LATER.values(), ids=LATER)
def test_the_later_file_counts_where_nothing_orders_rows(tmp_path: Path, load: Load) -> None:
    """Same result as loading the files one after the other, instead of failing forever."""
    columns = {**COLUMNS, "extra": "string"}
    table = LoadedTable(tmp_path / "project", load, columns)
    for v in ("old", "mid", "new"):
        table.land([{**event(1, 1, v=v), "extra": None}, {**event(1, 1, v=v), "extra": None}])
    table.land([{**event(2, 1), "extra": "e"}])
    assert table.run().version == 1
    assert {(row["k"], row["v"], row["extra"]) for row in table.by_deltalake()} == {
        (1, "new", None), (2, "x", "e"),
    }  # fmt: skip
    assert len(table.by_deltalake()) == 2
    assert counts(table, "inserted", "duplicates") == (2, 5)
    assert table.run().version is None


def test_the_first_file_counts_where_later_keys_add_nothing(tmp_path: Path) -> None:
    """An APPEND adds only new keys, as if the files had arrived one after the other."""
    together, apart = (
        LoadedTable(tmp_path / name, Load(type=LoadType.APPEND, keys=("k",)), COLUMNS)
        for name in ("together", "apart")
    )
    for v in ("old", "mid", "new"):
        for table in (together, apart):
            table.land([event(1, 1, v=v)])
        apart.run()
    together.run()
    found = [[(row["k"], row["v"]) for row in table.by_deltalake()] for table in (together, apart)]
    assert found == [[(1, "old")], [(1, "old")]]


def test_an_order_counts_before_the_file(tmp_path: Path) -> None:
    load = LATER["ordered"]
    table = LoadedTable(tmp_path / "project", load, COLUMNS)
    table.land([event(1, 9, v="highest"), event(2, 5, v="old")])
    table.land([event(1, 3, v="later file"), event(2, 5, v="new")])
    table.run()
    assert {(row["k"], row["v"]) for row in table.by_deltalake()} == {(1, "highest"), (2, "new")}


def test_a_row_without_order_precedes_every_other(tmp_path: Path) -> None:
    """In the batch and against the table: a merge keeps the row whose order is known."""
    unordered = {"k": 1, "n": None, "op": "u"}
    first = [{**unordered, "v": "in the batch"}, event(1, 0, v="known")]
    later = [{**unordered, "v": "after it"}, {**unordered, "k": 2, "v": "alone"}]
    table = loaded(tmp_path, LATER["ordered"], COLUMNS, first, later, [event(2, 0, v="next")])
    assert {(row["k"], row["v"]) for row in table.by_deltalake()} == {(1, "known"), (2, "next")}


def test_rows_that_contradict_each_other_in_one_file_fail_all_the_same(tmp_path: Path) -> None:
    table = LoadedTable(tmp_path / "project", LATER["INCREMENTAL"], COLUMNS)
    table.land([event(1, 1, v="old"), event(2, 1)])
    table.land([event(1, 1, v="x"), event(1, 1, v="y")])
    failed = table.run()
    assert failed.error is not None
    assert "several rows of the key (k) = (1) differ in one file" in failed.error.message
    table.land([event(1, 1, v="settled")])
    assert table.run().version == 1, "a later file has the last word"
    assert {(row["k"], row["v"]) for row in table.by_deltalake()} == {(1, "settled"), (2, "x")}


def test_files_of_a_snapshot_are_of_one_time(tmp_path: Path) -> None:
    table = LoadedTable(tmp_path / "project", Load(type=LoadType.SNAPSHOT, keys=("k",)), COLUMNS)
    table.land([event(1, 1, v="x")])
    table.land([event(1, 1, v="y")])
    failed = table.run()
    assert failed.error is not None
    assert (
        "several rows of the key (k) = (1) differ, and the load has no order_by"
        in failed.error.message
    )


def test_states_of_one_moment_are_told_apart_by_file(tmp_path: Path) -> None:
    """With different times, each is a version of its own."""
    load = Load(type=LoadType.SCD2, keys=("k",), effective="at")
    table = LoadedTable(tmp_path / "project", load, TIMED)
    table.land([state(5, "last"), state(1, "first told")])
    table.land([state(1, "corrected"), state(3, "between")])
    table.run()
    assert history(table) == [("corrected", 1, 3), ("between", 3, 5), ("last", 5, None)]


@pytest.mark.parametrize(
    ("load_type", "counts"), [(LoadType.INCREMENTAL, "new"), (LoadType.APPEND, "old")]
)
def test_a_back_fill_takes_the_same_file(tmp_path: Path, load_type: LoadType, counts: str) -> None:
    table = LoadedTable(tmp_path / "project", Load(type=load_type, keys=("k",)), COLUMNS)
    for v in ("old", "new"):
        table.land([event(1, 1, v=v), event(2, 8, v=v)])
    table.run()
    table.run(Window(column="n", start="1", end="5"))
    assert {(row["k"], row["v"]) for row in table.by_deltalake()} == {(1, counts), (2, counts)}

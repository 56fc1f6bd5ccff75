"""Every load type quarantines rows before it merges them."""

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
from lakeguard_sdk.model.quarantine import QuarantineRule
from lakeguard_sdk.model.run import Window
from tests.support.lakes.quarantining_tables import Row, SiftedTable

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]
COLUMNS = {"id": "long", "amount": "long", "day": "date", "seq": "long"}
RULE = {"amount": "ge(amount, value=0)"}
JUNE = datetime(2026, 6, 1, tzinfo=UTC)


def row(number: int | None, amount: int | None = 1, day: int = 1, **more: Any) -> Row:
    return {"id": number, "amount": amount, "day": JUNE.replace(day=day).date(), "seq": 1, **more}


def table(folder: Path, rules: dict[str, str] | None = None, **load: Any) -> SiftedTable:
    given = Load(**load)
    partition = given.partition_by
    return SiftedTable(folder, given, COLUMNS, rules or RULE, partition)


def dirty(things: SiftedTable, **more: Any) -> list[int]:
    """Keys in the table after a clean batch and one with failing rows."""
    things.land(row(1, **more), row(2, 2, **more))
    assert things.run().status is RunStatus.SUCCESS
    assert things.evidence.quarantined is None
    things.land(row(2, -1, 2, **more), row(3, 3, 2, **more), row(4, -1, 2, **more))
    assert things.run().status is RunStatus.SUCCESS
    assert things.filed() == {"amount": [2, 4]}
    assert things.before("amount") == (2, 3)
    assert things.left("amount") == 0
    return things.shown("id")


def test_full(tmp_path: Path) -> None:
    things = table(tmp_path, type=LoadType.FULL)
    things.land(row(1), row(2, -1), row(3))
    things.run()
    assert things.shown("id") == [1, 3]
    things.land(row(4, -1), alone=True)
    things.run()
    assert things.shown("id") == []


def test_append(tmp_path: Path) -> None:
    assert dirty(table(tmp_path, type=LoadType.APPEND)) == [1, 2, 3]


@pytest.mark.parametrize("hashed", [HashStrategy.NONE, HashStrategy.ROW_HASH], ids=str)
def test_append_by_key(tmp_path: Path, hashed: HashStrategy) -> None:
    things = table(tmp_path, type=LoadType.APPEND, keys=("id",), hash=hashed)
    assert dirty(things) == [1, 2, 3]
    changes = things.evidence.changes
    assert changes is not None
    assert (changes.inserted, changes.unchanged) == (1, 0)


def test_partition(tmp_path: Path) -> None:
    things = table(tmp_path, type=LoadType.PARTITION, partition_by=("day",))
    things.land(row(1, day=1), row(2, day=2), row(3, day=3))
    things.run()
    things.land(row(4, day=2), row(5, -1, day=2), row(6, -1, day=3), alone=True)
    things.run()
    assert things.shown("id", "day") == [
        (1, row(1)["day"]), (3, row(3, day=3)["day"]), (4, row(1, day=2)["day"]),
    ]  # fmt: skip
    assert things.filed() == {"amount": [5, 6]}
    changes = things.evidence.changes
    assert changes is not None
    assert (changes.inserted, changes.deleted) == (1, 1)


@pytest.mark.parametrize("hashed", list(HashStrategy), ids=str)
def test_incremental(tmp_path: Path, hashed: HashStrategy) -> None:
    things = table(tmp_path, type=LoadType.INCREMENTAL, keys=("id",), hash=hashed)
    assert dirty(things) == [1, 2, 3]
    assert things.shown("id", "amount")[1] == (2, 2)
    kept = things.kept().column_names
    assert "row_hash" not in kept
    assert "key_hash" not in kept


@pytest.mark.parametrize("deletes", list(Deletes), ids=str)
def test_a_key_that_a_snapshot_has_in_a_row_quarantined_is_not_missing(
    tmp_path: Path, deletes: Deletes
) -> None:
    things = table(tmp_path, type=LoadType.SNAPSHOT, keys=("id",), deletes=deletes)
    things.land(row(1), row(2, 2), row(3, 3))
    things.run()
    things.land(row(1), row(2, -1), row(4, -1), row(5), alone=True)
    things.run()
    changes = things.evidence.changes
    assert changes is not None
    assert changes.inserted == 1
    if deletes is Deletes.HARD:
        assert things.shown("id", "amount") == [(1, 1), (2, 2), (5, 1)]
    else:
        shown = things.shown("id", "is_deleted")
        assert shown == [(1, False), (2, False), (3, True), (5, False)]


def test_a_snapshot_of_which_every_row_fails_deletes_only_what_it_lacks(tmp_path: Path) -> None:
    things = table(tmp_path, type=LoadType.SNAPSHOT, keys=("id",))
    things.land(row(1), row(2), row(3))
    things.run()
    things.land(row(1, -1), row(2, -1), alone=True)
    assert things.run().status is RunStatus.SUCCESS
    assert things.shown("id") == [1, 2]


def test_a_snapshot_of_rows_without_a_key_is_empty(tmp_path: Path) -> None:
    rules = {"key": "not_null(id)"}
    things = table(tmp_path, rules, type=LoadType.SNAPSHOT, keys=("id",))
    things.land(row(1))
    things.run()
    things.land(row(None), alone=True)
    assert things.run().status is RunStatus.FAILED
    assert "the snapshot is empty" in things.runs.failures[0].message


def test_rows_that_delete_are_not_judged(tmp_path: Path) -> None:
    things = table(
        tmp_path,
        {"amount": "not_null(amount)"},
        type=LoadType.CDC,
        keys=("id",),
        order_by=("seq",),
        operation="op",
    )
    things.land(row(1, op="I"), row(2, op="I"), row(3, None, op="I"))
    things.run()
    assert things.filed() == {"amount": [3]}
    things.land(row(1, None, op=" D ", seq=2), row(2, None, op="u", seq=2), row(5, op="i", seq=2))
    things.run()
    assert things.filed() == {"amount": [2]}
    assert things.before("amount") == (1, 2)
    assert things.shown("id") == [2, 5]
    assert things.kept().column("op").to_pylist() == ["u"]


def test_a_history_goes_on_without_the_row(tmp_path: Path) -> None:
    things = table(tmp_path, type=LoadType.SCD2, keys=("id",))
    things.land(row(1), row(2))
    things.run()
    things.land(row(1, -1), row(2, 5))
    things.run()
    shown = things.shown("id", "amount", "is_current")
    assert shown == [(1, 1, True), (2, 1, False), (2, 5, True)]


def test_a_key_that_is_null_need_not_fail_the_run(tmp_path: Path) -> None:
    things = table(tmp_path, {"key": "not_null(id)"}, type=LoadType.INCREMENTAL, keys=("id",))
    things.land(row(1), row(None))
    assert things.run().status is RunStatus.SUCCESS
    assert things.shown("id") == [1]
    assert things.filed() == {"key": [None]}


def test_all_rows_of_a_key_that_comes_twice(tmp_path: Path) -> None:
    rules = {"once": "unique(id)"}
    things = table(tmp_path, rules, type=LoadType.INCREMENTAL, keys=("id",))
    things.land(row(1), row(2))
    things.run()
    things.land(row(1, 5), row(3, 1), row(3, 2))
    assert things.run().status is RunStatus.SUCCESS
    assert things.filed("amount") == {"once": [1, 2]}
    assert things.shown("id", "amount") == [(1, 5), (2, 1)]


@pytest.mark.parametrize("fails", ["first", "last"])
def test_rows_that_later_files_settle_are_sifted_in_both_writes(tmp_path: Path, fails: str) -> None:
    things = table(tmp_path, type=LoadType.INCREMENTAL, keys=("id",))
    things.land(row(1, 1), row(2, 5), row(3, -1 if fails == "first" else 4))
    things.land(row(1, 2), row(2, 6), row(3, -1 if fails == "last" else 4))
    assert things.run().status is RunStatus.SUCCESS
    assert things.shown("id", "amount") == [(1, 2), (2, 6), (3, 4)]
    assert things.filed() == {"amount": [3]}
    assert things.quarantined.rows == 1


@pytest.mark.parametrize(
    "load",
    [
        Load(type=LoadType.FULL),
        Load(type=LoadType.INCREMENTAL, keys=("id",)),
        Load(type=LoadType.SNAPSHOT, keys=("id",)),
    ],
    ids=str,
)
def test_a_back_fill_quarantines_rows_of_its_window(tmp_path: Path, load: Load) -> None:
    things = SiftedTable(tmp_path, load, COLUMNS, RULE)
    things.land(row(1, day=1), row(2, day=2), row(3, day=3))
    things.run()
    things.land(row(1, 9, day=1), row(2, -1, day=2), row(3, 9, day=3), row(4, day=2), alone=True)
    things.runs.window = Window(column="day", start="2026-06-02", end="2026-06-02")
    things.runs.build = things.runs.build.model_copy(update={"position": None})
    assert things.run().status is RunStatus.SUCCESS
    shown = things.shown("id", "amount")
    held = [] if load.type is LoadType.FULL else [(2, 1)]
    assert shown == [(1, 1), *held, (3, 1), (4, 1)]
    assert things.filed() == {"amount": [2]}
    assert things.evidence.changes is not None
    assert things.evidence.changes.inserted == 1


@pytest.mark.parametrize(
    "load",
    [
        Load(type=LoadType.APPEND, watermark="seq"),
        Load(type=LoadType.PARTITION, partition_by=("day",), watermark="seq"),
        Load(type=LoadType.INCREMENTAL, keys=("id",), watermark="seq"),
    ],
    ids=lambda load: str(load.type),
)
def test_the_watermark_counts_rows_that_are_quarantined(tmp_path: Path, load: Load) -> None:
    things = SiftedTable(tmp_path, load, COLUMNS, RULE, load.partition_by)
    things.land(row(1, seq=3), row(2, -1, seq=8))
    things.run()
    assert things.evidence.position is not None
    assert things.evidence.position.watermark == "8"


def test_rules_are_known_by_their_number(tmp_path: Path) -> None:
    """More rules than a machine word has bits."""
    rules = {f"r{number:03d}": f"ne(amount, value={number})" for number in range(70)}
    things = table(tmp_path, rules, type=LoadType.APPEND)
    things.land(*(row(number, number) for number in range(-1, 71)))
    things.run()
    assert things.shown("id") == [-1, 70]
    filed = things.filed()
    assert filed == {f"r{number:03d}": [number] for number in range(70)}
    assert all(isinstance(rule, QuarantineRule) for rule in things.runs.quarantine_rules)

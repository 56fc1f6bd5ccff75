"""What replaces something that others were built from invalidates it for them, by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.model.row_ranges import RowRange
from lakeguard_sdk.model.run import Failure, Window
from lakeguard_sdk.scheduling.invalidations import End, InvalidationRow, Reason
from tests.support.lakes.partitioned_numbers import (
    BRONZE,
    SILVER,
    Client,
    begin,
    dataset,
    finish,
    project,
    publish,
)

BOTH = pytest.mark.usefixtures("each_state")
JANUARY = Window(column="month", start="2026-01", end="2026-01")


def two(
    folder: Path, load: LoadType = LoadType.PARTITION, by: tuple[str, ...] = ("month",)
) -> Client:
    silver = dataset(SILVER, BRONZE, load=LoadType.FULL)
    client = project(folder, dataset(BRONZE, load=load, by=by), silver)
    for name in (BRONZE, SILVER):
        publish(client, name, {"2026-01": [1], "2026-02": [2]})
    return client


def the_one(client: Client) -> InvalidationRow:
    (row,) = client.reader.invalidations(every=True)
    return row


@BOTH
def test_replaced_partitions_are_invalid_for_those_who_read_them(tmp_path: Path) -> None:
    client = two(tmp_path)
    run = publish(client, BRONZE, {"2026-01": [3], "2026-03": [4]})
    row = the_one(client)
    assert (row.dataset, row.reason, row.caused_by) == (BRONZE, Reason.CORRECTION, run.run_id)
    assert row.reach == RowRange(partitions=("month=2026-01",)), "what is new nobody has read"
    assert [item.standing for item in row.followers] == ["caught_up", "ready"]
    publish(client, SILVER, {"2026-01": [3], "2026-02": [2]})
    client.operations.reconcile()
    assert the_one(client).end is End.DONE


def test_a_new_partition_and_a_whole_load_replace_nothing_of_the_kind(tmp_path: Path) -> None:
    client = two(tmp_path)
    publish(client, BRONZE, {"2026-03": [4]})
    publish(client, SILVER, {"2026-01": [9]})
    assert client.reader.invalidations(every=True) == []


def test_nobody_is_told_where_nobody_has_read_it(tmp_path: Path) -> None:
    client = project(tmp_path, dataset(BRONZE), dataset(SILVER, BRONZE))
    publish(client, BRONZE, {"2026-01": [1]})
    publish(client, BRONZE, {"2026-01": [2]})
    assert client.reader.invalidations(every=True) == []


@BOTH
def test_a_first_build_of_what_was_just_replaced_has_to_be_built_again(tmp_path: Path) -> None:
    client = project(tmp_path, dataset(BRONZE), dataset(SILVER, BRONZE))
    publish(client, BRONZE, {"2026-01": [1], "2026-02": [2]})
    plan = begin(client, SILVER)
    publish(client, BRONZE, {"2026-01": [3]}, window=JANUARY)
    client.operations.reconcile()
    assert [item.standing for item in the_one(client).followers] == ["caught_up", "waiting"]
    finish(client, plan, {"2026-01": [1], "2026-02": [2]})
    assert [item.standing for item in the_one(client).followers] == ["caught_up", "ready"]
    publish(client, SILVER, {"2026-01": [3]})
    client.operations.reconcile()
    assert the_one(client).end is End.DONE


def test_a_first_build_that_comes_to_nothing_holds_nobody_up(tmp_path: Path) -> None:
    client = project(tmp_path, dataset(BRONZE), dataset(SILVER, BRONZE))
    publish(client, BRONZE, {"2026-01": [1]})
    plan = begin(client, SILVER)
    publish(client, BRONZE, {"2026-01": [3]}, window=JANUARY)
    client.runs.fail_run(plan.ticket, Failure(code="BROKEN", message="no rows"))
    client.operations.reconcile()
    assert the_one(client).end is End.DONE


def test_a_window_built_again_is_invalid_for_others(tmp_path: Path) -> None:
    client = two(tmp_path, LoadType.APPEND)
    publish(client, BRONZE, {"2026-01": [3]}, window=JANUARY)
    assert the_one(client).reach == RowRange(partitions=("month=2026-01",))


def test_a_window_of_a_table_without_partitions_is_named_as_it_was(tmp_path: Path) -> None:
    client = two(tmp_path, LoadType.FULL, by=())
    publish(client, BRONZE, {"2026-01": [3], "2026-02": [2]}, window=JANUARY)
    assert the_one(client).reach == RowRange(window=JANUARY)


@BOTH
def test_a_rollback_invalidates_what_differs(tmp_path: Path) -> None:
    client = two(tmp_path)
    publish(client, BRONZE, {"2026-02": [5]})
    publish(client, SILVER, {"2026-01": [1], "2026-02": [5]})
    client.operations.reconcile()
    client.operations.rollback(BRONZE, 1, "v2 was wrong")
    (row,) = client.reader.invalidations()
    assert row.reach == RowRange(partitions=("month=2026-02",))
    assert [(item.standing, item.version) for item in row.followers] == [
        ("caught_up", 1),
        ("ready", None),
    ], "that it was built from v1 long ago does not count"
    publish(client, SILVER, {"2026-01": [1], "2026-02": [2]})
    client.operations.reconcile()
    assert client.reader.invalidations() == []


def test_a_build_that_was_asked_for_is_not_told_again(tmp_path: Path) -> None:
    client = two(tmp_path)
    asked = client.operations.invalidate(
        BRONZE, RowRange(partitions=("month=2026-01",)), Reason.CORRECTION
    )
    publish(client, BRONZE, {"2026-01": [3]}, window=JANUARY)
    assert the_one(client).invalidation_id == asked.invalidation_id
    client.operations.reconcile()
    publish(client, BRONZE, {"2026-01": [4]}, window=JANUARY)  # nobody asked for this one
    assert len(client.reader.invalidations(every=True)) == 2

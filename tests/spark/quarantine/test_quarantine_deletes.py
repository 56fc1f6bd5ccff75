"""Quarantined rows whose key is deleted meanwhile: a replay restores them only on request."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk.core.enums import Deletes, LoadType, RunStatus
from lakeguard_sdk.errors import NotReplayable
from lakeguard_sdk.model.load import Load
from tests.spark.quarantine.test_quarantine_end_to_end import (
    COLUMNS,
    LAX,
    STRICT,
    assert_whole,
    balance,
    replay,
    row,
    say,
)
from tests.support.lakes.loaded_tables import LoadedTable

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]


def deleted_while_it_waits(folder: Path, deletes: Deletes) -> LoadedTable:
    """The table never had a row of key 2: it was quarantined, then deleted."""
    load = Load(
        type=LoadType.CDC, keys=("id",), order_by=("seq",), operation="op", deletes=deletes
    )  # fmt: skip
    table = LoadedTable(folder, load, COLUMNS, (STRICT,))
    table.land([row(1, 1, 1), row(2, -5, 2)])
    table.run()
    table.land([row(2, 0, 3) | {"op": "d"}])
    assert table.run().status is RunStatus.SUCCESS
    say(table, LAX)
    return table


def test_a_key_that_was_deleted_for_good_does_not_come_back_by_itself(tmp_path: Path) -> None:
    table = deleted_while_it_waits(tmp_path, Deletes.HARD)
    with pytest.raises(NotReplayable, match="may have been deleted since"):
        replay(table)
    assert [item["id"] for item in table.by_deltalake()] == [1]
    assert replay(table, as_newest=True).status is RunStatus.SUCCESS
    assert sorted(item["id"] for item in table.by_deltalake()) == [1, 2]


def test_a_key_that_is_marked_stays_deleted(tmp_path: Path) -> None:
    table = deleted_while_it_waits(tmp_path, Deletes.SOFT)
    assert replay(table).status is RunStatus.SUCCESS
    shown = {item["id"]: item["is_deleted"] for item in table.by_deltalake()}
    assert shown == {1: False, 2: True}
    assert balance(table)[2] == 0
    assert_whole(table)

"""The row count of a load, compared with the rows landed for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk.core.enums import (
    Deletes,
    HashStrategy,
    LateRows,
    LoadType,
    RunStatus,
)
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.run import Window
from tests.spark.quarantine.test_quarantine_end_to_end import (
    COLUMNS,
    LAX,
    STRICT,
    assert_whole,
    balance,
    of,
    replay,
    row,
    say,
)
from tests.support.lakes.loaded_tables import LoadedTable, Row

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]
BY_ID = {"keys": ("id",), "order_by": ("seq",)}
CDC = {**BY_ID, "operation": "op", "type": LoadType.CDC}
LOADS = {
    "full": Load(type=LoadType.FULL),
    "append": Load(type=LoadType.APPEND),
    "append by key": Load(type=LoadType.APPEND, **BY_ID),
    "append by hash": Load(type=LoadType.APPEND, **BY_ID, hash=HashStrategy.KEY_HASH),
    "append with late rows": Load(type=LoadType.APPEND, watermark="seq", late=LateRows.SKIP),
    "partition": Load(type=LoadType.PARTITION, partition_by=("seq",)),
    "incremental": Load(type=LoadType.INCREMENTAL, **BY_ID),
    "incremental with late rows": Load(
        type=LoadType.INCREMENTAL, **BY_ID, watermark="seq", late=LateRows.SKIP
    ),
    "snapshot": Load(type=LoadType.SNAPSHOT, **BY_ID),
    "snapshot that marks": Load(type=LoadType.SNAPSHOT, **BY_ID, deletes=Deletes.SOFT),
    "changes": Load(**CDC),
    "changes that mark": Load(**CDC, deletes=Deletes.SOFT),
    "history": Load(type=LoadType.SCD2, **BY_ID),
}
FIRST = [row(1, 1, 5), row(2, 2, 5), row(3, 3, 5), row(4, 4, 5)]
SECOND = [
    row(1, 1, 5),  # as it was
    row(2, 7, 6),  # changed
    row(3, -1, 6),  # fails, and is not row 3 of the table
    row(5, 5, 6),  # new
    row(6, -2, 6),  # fails
    row(7, 1, 6),  # comes twice
    row(7, 2, 7),
    row(1, 9, 2),  # older than what the table has
]
GONE: Row = {**row(2, -9, 8), "op": "d"}
FAIL = 2


@pytest.mark.parametrize("load", LOADS.values(), ids=LOADS)
def test_every_row_that_landed_was_given_to_the_load_or_quarantined(
    tmp_path: Path, load: Load
) -> None:
    table = LoadedTable(tmp_path, load, COLUMNS, (STRICT,))
    second = [*SECOND, GONE] if load.operation else SECOND
    for landed, failing in ((FIRST, 0), (second, FAIL)):
        table.land(of(table, *landed), alone=True)
        result = table.run()
        assert result.status is RunStatus.SUCCESS, result
        evidence = table.heard.evidence
        assert evidence is not None
        assert evidence.batch == len(landed) - failing
        assert (evidence.quarantined.rows if evidence.quarantined else 0) == failing
    anew = load.type in (LoadType.FULL, LoadType.SNAPSHOT)
    every = len(second) if anew else len(FIRST) + len(second)
    quarantined = [row for row in second if row["amount"] < 0 and row["op"] == "u"]
    assert balance(table) == (every, every - len(quarantined), len(quarantined), 0)
    assert_whole(table)


@pytest.mark.parametrize("kind", ["full", "append", "partition", "snapshot", "incremental"])
def test_a_back_fill_was_given_the_rows_of_its_window(tmp_path: Path, kind: str) -> None:
    table = LoadedTable(tmp_path, LOADS[kind], COLUMNS, (LAX,))
    table.land(of(table, *FIRST, row(8, 8, 6), row(9, -3, 6), row(10, 1, 6)))
    table.run()
    say(table, STRICT)
    result = table.run(Window(column="seq", start="6", end="6"))
    assert result.status is RunStatus.SUCCESS, result
    evidence = table.heard.evidence
    assert evidence is not None
    assert evidence.quarantined is not None
    assert (evidence.batch, evidence.quarantined.rows) == (2, 1)
    assert_whole(table)


@pytest.mark.parametrize("kind", ["history", "changes that mark", "incremental"])
def test_a_row_that_changes_a_known_key_can_be_replayed(tmp_path: Path, kind: str) -> None:
    table = LoadedTable(tmp_path, LOADS[kind], COLUMNS, (STRICT,))
    table.land(of(table, row(1, 1, 1)))
    table.run()
    table.land(of(table, row(1, -3, 2)), alone=True)
    table.run()
    say(table, LAX)
    sent = replay(table, as_newest=True)
    assert sent.status is RunStatus.SUCCESS, sent
    assert -3 in {item["amount"] for item in table.by_deltalake()}
    assert balance(table) == (2, 2, 0, 0)
    assert_whole(table)

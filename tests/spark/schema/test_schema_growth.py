"""Tables gain columns and wider types with the run that finds them, under every load type."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from lakeguard_sdk.core.enums import RunStatus
from tests.support.lakes.changing_schemas import (
    NAME,
    ONE,
    ONE_FILE,
    one,
)
from tests.support.projects.folders import published

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

WIDE_FILE = ONE_FILE.set(1, pa.field("n", pa.int64())).append(pa.field("more", pa.string()))


@pytest.mark.parametrize(
    ("load", "expected"),
    [
        ("{type: APPEND}", {1: (1, None), 2: (2, None), 3: (2**40, "x")}),
        ("{type: FULL}", {2: (2**41, "y"), 3: (2**40, "x")}),
        ("{type: INCREMENTAL, keys: [id]}", {1: (1, None), 2: (2**41, "y"), 3: (2**40, "x")}),
        ("{type: SNAPSHOT, keys: [id]}", {2: (2**41, "y"), 3: (2**40, "x")}),
        (
            "{type: INCREMENTAL, keys: [id], hash: ROW_HASH, partition_by: [s]}",
            {1: (1, None), 2: (2**41, "y"), 3: (2**40, "x")},
        ),
        ("{type: PARTITION, partition_by: [s]}", {1: (1, None), 2: (2**41, "y"), 3: (2**40, "x")}),
    ],
)
def test_every_load_widens_and_grows_its_table(
    tmp_path: Path, load: str, expected: dict[int, tuple[int, str | None]]
) -> None:
    things = one(tmp_path, load, "BACKWARD")
    rows = [
        {"id": 2, "n": 2**41, "s": "b", "more": "y"},
        {"id": 3, "n": 2**40, "s": "c", "more": "x"},
    ]
    things.land(WIDE_FILE, *(rows[1:] if "APPEND" in load else rows))
    result = things.run()
    assert result.status is RunStatus.SUCCESS, result.error or result.decision
    assert {key: (row["n"], row["more"]) for key, row in things.rows().items()} == expected
    assert sorted(published(things.client, NAME, "id")) == sorted(expected)


def test_a_history_keeps_every_state_in_the_wider_type(tmp_path: Path) -> None:
    things = one(tmp_path, "{type: SCD2, keys: [id]}", "BACKWARD")
    things.land(WIDE_FILE, {"id": 2, "n": 2**41, "s": "b", "more": "y"})
    assert things.run().version == 2
    table = DeltaTable(str(tmp_path / "bronze" / "things")).to_pyarrow_table()
    states = {(row["id"], row["n"], row["is_current"]) for row in table.to_pylist()}
    assert states == {(1, 1, True), (2, 2, False), (2, 2**41, True)}


def test_a_person_widens_a_table_by_declaring_it(tmp_path: Path) -> None:
    things = one(tmp_path, "{type: APPEND}", "DEFAULT")
    things.columns = {**ONE, "n": "long"}
    things.say()
    things.land(ONE_FILE, {"id": 3, "n": 3, "s": "c"})
    result = things.run()
    assert result.status is RunStatus.SUCCESS, result.error or result.decision
    table = DeltaTable(str(tmp_path / "bronze" / "things"))
    assert table.to_pyarrow_table().schema.field("n").type == pa.int64()
    assert set(things.rows()) == {1, 2, 3}

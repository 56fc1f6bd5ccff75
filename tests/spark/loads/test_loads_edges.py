"""Edge cases of values and batches: rare characters, empty input, a date widened to a timestamp."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from lakeguard_sdk.core.enums import LoadType, RunStatus
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.run import Window
from tests.support.lakes.loaded_tables import LoadedTable
from tests.support.projects.csv_files import BRONZE, CsvProject

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

COLUMNS = {"k": "string", "v": "long", "day": "date"}
DAY = date(2026, 1, 1)
RARE = ("𠮷野家", "a\u0085b", "c\u2028d", "\U0010ffff")


def test_rare_characters_in_keys_are_found_again(tmp_path: Path) -> None:
    table = LoadedTable(tmp_path / "p", Load(type=LoadType.INCREMENTAL, keys=("k",)), COLUMNS)
    for value in (1, 2):
        table.land([{"k": key, "v": value, "day": DAY} for key in RARE])
        assert table.run().status is RunStatus.SUCCESS
    found = table.by_deltalake()
    assert sorted((row["k"], row["v"]) for row in found) == sorted((key, 2) for key in RARE)


def test_rare_characters_can_partition_a_table(tmp_path: Path) -> None:
    load = Load(type=LoadType.APPEND, partition_by=("k",))
    table = LoadedTable(tmp_path / "p", load, COLUMNS)
    for value in (1, 2):
        table.land([{"k": key, "v": value, "day": DAY} for key in RARE])
        assert table.run().version == value
    assert sorted(row["v"] for row in table.by_deltalake()) == [1] * len(RARE) + [2] * len(RARE)


@pytest.mark.parametrize(
    "load",
    [
        Load(type=LoadType.SCD2, keys=("k",), effective="day"),
        Load(type=LoadType.CDC, keys=("k",), operation="op", order_by=("v",)),
        Load(type=LoadType.INCREMENTAL, keys=("k",)),
    ],
    ids=lambda load: load.type,
)
def test_a_batch_without_rows_changes_nothing(tmp_path: Path, load: Load) -> None:
    table = LoadedTable(tmp_path / "p", load, COLUMNS)
    table.land([{"k": "a", "v": 1, "day": DAY, "op": "I"}])
    assert table.run().version == 1
    table.land([])
    nothing = table.run()
    assert (nothing.status, nothing.version) == (RunStatus.SUCCESS, None), nothing.error
    assert len(table.by_deltalake()) == 1


def test_a_back_fill_finds_days_that_became_times(tmp_path: Path) -> None:
    """Delta cannot add a first timestamp_ntz later: the table has one from the start."""
    project = CsvProject(tmp_path)
    load, midnight = "{type: APPEND, watermark: day}", "2026-01-01T00:00:00"
    project.bronze(load, {"id": "long", "day": "date", "seen": "timestamp_ntz"})
    project.apply()
    project.land("a", "id,day,seen", f"1,2026-01-01,{midnight}")
    first = project.run(BRONZE)
    assert first.version == 1, first.error
    project.bronze(load, {"id": "long", "day": "timestamp_ntz", "seen": "timestamp_ntz"})
    project.apply()
    project.land("a", "id,day,seen", f"1,{midnight},{midnight}")
    window = Window(column="day", start=midnight, end="2026-01-02T00:00:00")
    filled = project.run(BRONZE, window)
    assert filled.status is RunStatus.SUCCESS, filled.decision and filled.decision.ruling.reasons
    assert project.rows() == [1]

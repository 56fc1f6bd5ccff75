"""No row is missed or duplicated after backfills, additions and late rows."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.model.run import Window
from tests.support.projects.csv_files import (
    BRONZE,
    COLUMNS,
    JANUARY,
    SILVER,
    CsvProject,
)

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

SAME = "SELECT o.id, o.day FROM bronze.orders o"
DAY = date(2026, 1, 1)


@pytest.fixture
def project(tmp_path: Path) -> CsvProject:
    return CsvProject(tmp_path)


@pytest.mark.parametrize("load", ["APPEND", "{type: FULL, skip_unchanged: true}"])
def test_a_back_fill_moves_on_in_no_input(project: CsvProject, load: str) -> None:
    project.bronze("APPEND")
    project.silver(load, SAME)
    project.apply()
    project.land("a", "id,day", "1,2026-01-01")
    project.run()
    project.run(SILVER)
    project.land("b", "id,day", "2,2026-02-02", "3,2026-01-03")
    project.run()
    assert project.run(SILVER, JANUARY).version == 2
    project.run(SILVER)
    assert project.rows(SILVER) == project.rows() == [1, 2, 3]


def test_a_back_fill_of_an_append_reads_only_files_that_were_read(project: CsvProject) -> None:
    project.bronze("APPEND")
    project.apply()
    project.land("a", "id,day", "1,2026-01-01")
    project.run()
    project.land("b", "id,day", "2,2026-01-02", "3,2026-02-02")
    project.run(window=JANUARY)
    assert project.rows() == [1]
    project.run()
    assert project.rows() == [1, 2, 3]
    project.land("a", "id,day", "10,2026-01-01")
    project.run(window=JANUARY)
    assert project.rows() == [2, 3, 10]
    assert project.run().status is RunStatus.SUCCESS
    project.archive("a")
    gone = project.run(window=JANUARY)
    assert gone.error is not None
    assert "in/a.csv, which was read before, is gone" in gone.error.message
    assert project.rows() == [2, 3, 10]


def test_a_window_that_became_empty_deletes_nothing(project: CsvProject) -> None:
    project.bronze("FULL")
    project.apply()
    project.land("a", "id,day", "1,2026-01-01", "2,2026-02-01")
    project.run()
    project.land("a", "id,day", "2,2026-02-01")
    empty = project.run(window=JANUARY)
    assert empty.error is not None
    assert "would delete the 1 rows of the table in that window" in empty.error.message
    assert project.rows() == [1, 2]


def test_a_back_fill_keeps_keys_single(project: CsvProject) -> None:
    project.bronze("{type: APPEND, keys: [id]}")
    project.apply()
    project.land("a", "id,day", "1,2026-01-01", "1,2026-01-01", "7,2026-03-01")
    project.run()
    project.land("b", "id,day", "7,2026-01-05", "8,2026-01-06")
    project.run()
    assert project.rows() == [1, 7, 8]
    project.run(window=JANUARY)
    assert project.rows(columns="id, month(day)") == [(1, 1), (7, 3), (8, 1)]


def test_history_outlives_a_hash_that_comes_later(project: CsvProject) -> None:
    columns = {**COLUMNS, "v": "string"}
    project.bronze("{type: SCD2, keys: [id], effective: day}", columns)
    project.apply()
    project.land("a", "id,day,v", "1,2026-01-01,x", "1,2026-01-05,y")
    project.run()
    project.bronze("{type: SCD2, keys: [id], effective: day, hash: ROW_HASH}", columns)
    project.apply()
    project.land("b", "id,day,v", "1,2026-01-09,z")
    project.run()
    assert project.rows(columns="v, day(valid_from)") == [("x", 1), ("y", 5), ("z", 9)]


def test_a_watermark_that_comes_later_needs_a_full_load(project: CsvProject) -> None:
    project.bronze("APPEND")
    project.silver("APPEND", SAME)
    project.apply()
    project.land("a", "id,day", "1,2026-01-01")
    project.run()
    project.run(SILVER)
    project.silver("{type: APPEND, watermark: id}", SAME)
    project.apply()
    refused = project.run(SILVER)
    assert refused.status is RunStatus.BLOCKED
    assert refused.decision is not None
    assert "does not say how far id was read" in " ".join(refused.decision.ruling.reasons)
    assert project.rows(SILVER) == [1]


def test_a_watermark_that_cannot_be_told_fails_the_run(project: CsvProject) -> None:
    project.bronze("APPEND")
    nan = "SELECT o.id, if(o.id = 2, double('NaN'), double(o.id)) AS w FROM bronze.orders o"
    project.silver("{type: APPEND, watermark: w}", nan, {"id": "long", "w": "double"})
    project.apply()
    project.land("a", "id,day", "1,2026-01-01", "2,2026-01-01")
    project.run()
    failed = project.run(SILVER)
    assert failed.error is not None
    assert "the maximum of watermark w is unknown" in failed.error.message


def test_a_partition_has_the_rows_of_all_its_files(project: CsvProject) -> None:
    project.bronze("{type: PARTITION, partition_by: [day]}")
    project.apply()
    project.land("a", "id,day", "1,2026-01-01")
    project.run()
    project.land("b", "id,day", "2,2026-01-01")
    project.run()
    assert project.rows() == [1, 2]
    assert project.run().version is None


def test_what_counts_rows_sees_all_of_them(project: CsvProject) -> None:
    project.bronze("APPEND")
    counted = "SELECT o.day, count(*) AS n FROM bronze.orders o GROUP BY o.day"
    project.silver("{type: INCREMENTAL, keys: [day]}", counted, {"day": "date", "n": "long"})
    project.apply()
    for number, name in enumerate("ab", start=1):
        project.land(name, "id,day", f"{number},2026-01-01")
        project.run()
        project.run(SILVER)
        assert project.rows(SILVER, "day, n") == [(DAY, number)]


def test_a_task_that_comes_late_does_not_rewrite_the_past(project: CsvProject) -> None:
    project.bronze("{type: SCD2, keys: [id]}", {"id": "long", "v": "string"})
    project.apply()
    project.land("a", "id,v", "1,old")
    project.run()
    early = project.submit()
    project.land("b", "id,v", "1,middle")
    project.run()
    project.land("c", "id,v", "1,newest")
    project.work(early)
    assert project.rows(columns="valid_from, v")[-1][1] == "newest"
    assert project.rows(columns="is_current, v")[-1] == (True, "newest")


def test_a_window_cannot_change_a_type(project: CsvProject) -> None:
    project.bronze("FULL")
    project.apply()
    project.land("a", "id,day", "1,2026-01-01", "2,2026-03-01")
    project.run()
    project.bronze("FULL", {"id": "integer", "day": "date"})
    project.apply()
    refused = project.run(window=Window(column="day", start="2026-01-01", end="2026-01-31"))
    assert refused.status is RunStatus.BLOCKED


def test_a_column_that_a_parent_gains_is_no_loss_of_rows(
    project: CsvProject, spark: SparkSession
) -> None:
    project.bronze("APPEND")
    project.silver("APPEND", SAME)
    project.apply()
    project.land("a", "id,day", "1,2026-01-01")
    project.run()
    project.run(SILVER)
    project.bronze("APPEND", {**COLUMNS, "extra": "string"})
    project.apply()
    project.land("b", "id,day,extra", "2,2026-01-02,x")
    assert project.run(BRONZE).version == 2
    assert project.run(SILVER).error is None
    assert project.rows(SILVER) == [1, 2]


@pytest.mark.parametrize("load", ["FULL", "APPEND"])
def test_a_time_without_a_zone_cannot_come_later(project: CsvProject, load: str) -> None:
    """Delta would accept it, but the table would be unreadable."""
    project.bronze(load)
    project.apply()
    project.land("a", "id,day", "1,2026-01-01")
    project.run()
    project.bronze(load, {**COLUMNS, "at": "timestamp_ntz"})
    project.apply()
    project.land("b", "id,day,at", "2,2026-01-02,2026-01-02T00:00:00")
    if load == "FULL":
        project.archive("a")
    refused = project.run()
    assert refused.status is RunStatus.BLOCKED
    assert refused.decision is not None
    assert "Delta takes none later" in " ".join(refused.decision.ruling.reasons)
    assert project.rows() == [1]

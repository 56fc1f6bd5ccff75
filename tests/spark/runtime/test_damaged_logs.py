"""Damaged logs and Spark: reads record them, and Spark reads the table again once it is undone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import openlaketx
from lakeguard.cli.rendering.status import Badge, badge_of
from lakeguard_sdk import Client, connect
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import FileDamaged, TableUnreadable
from tests.support.lakes.damaged_logs import CASES, Damage, truncated_head
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import numbers_project

pytestmark = pytest.mark.spark


@pytest.fixture
def client(tmp_path: Path) -> Client:
    numbers_project(tmp_path, LoadType.APPEND)
    made = connect(tmp_path)
    for number in (1, 2, 3):
        run_by_hand(made, [number])
    return made


def table_of(client: Client) -> Path:
    return Path(client.lake) / "bronze" / "numbers"


def status(client: Client) -> tuple[Badge, str]:
    (found,) = client.reader.status()
    return badge_of(found), found.damage


@pytest.mark.parametrize("damage", CASES)
def test_spark_reads_a_log_that_was_put_back(
    spark: SparkSession, client: Client, damage: Damage
) -> None:
    damage(table_of(client) / "_delta_log")
    client.operations.undo(NUMBERS, "somebody wrote to its log")
    rows = spark.read.format("delta").load(str(table_of(client))).collect()
    assert sorted(row.n for row in rows) == [1, 2, 3]


def test_a_read_of_a_damaged_log_is_recorded(spark: SparkSession, client: Client) -> None:
    truncated_head(table_of(client) / "_delta_log")
    tx = openlaketx.connect(Path(client.lake))
    with pytest.raises(TableUnreadable, match=r"the table of bronze\.numbers cannot be used") as e:
        tx.read(spark, str(NUMBERS))
    assert e.value.next_step.startswith("lakeguard undo bronze.numbers")
    badge, damage = status(client)
    assert badge is Badge.DAMAGED
    assert "commit 3 was altered" in damage
    client.operations.undo(NUMBERS, "somebody wrote to its log")
    assert sorted(row.n for row in tx.read(spark, str(NUMBERS)).collect()) == [1, 2, 3]


def test_a_read_of_a_lost_file_is_recorded(spark: SparkSession, client: Client) -> None:
    shutil.rmtree(table_of(client) / "runs")
    tx = openlaketx.connect(Path(client.lake))
    with pytest.raises(FileDamaged):
        tx.read(spark, str(NUMBERS))
    assert status(client)[0] is Badge.DAMAGED

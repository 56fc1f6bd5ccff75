"""Damaged logs and Spark: reads record them, and Spark reads the table again once it is undone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import openlaketx
from lakeguard.cli.rendering.status import Badge
from lakeguard_sdk import Client
from lakeguard_sdk.errors import FileDamaged, TableUnreadable
from tests.support.lakes.damaged_logs import (
    Damage,
    cases,
    log_of,
    status,
    three_versions,
    truncated_head,
)
from tests.support.projects.planes import NUMBERS

pytestmark = pytest.mark.spark


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return three_versions(tmp_path / "lake")


def table_of(client: Client) -> Path:
    return log_of(client).parent


@pytest.mark.parametrize("damage", cases(pytest.mark.exhaustive))
def test_spark_reads_a_log_that_was_put_back(
    spark: SparkSession, client: Client, damage: Damage
) -> None:
    damage(log_of(client))
    client.operations.undo(NUMBERS, "somebody wrote to its log")
    rows = spark.read.format("delta").load(str(table_of(client))).collect()
    assert sorted(row.n for row in rows) == [1, 2, 3]


def test_a_read_of_a_damaged_log_is_recorded(spark: SparkSession, client: Client) -> None:
    truncated_head(log_of(client))
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

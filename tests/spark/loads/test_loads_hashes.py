"""Row and key hashes: distinct for different rows, equal for equal rows."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lakeguard_sdk.core.enums import HashStrategy, LoadType
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.conform.hashes import content_hash
from openlaketx.engine.spark.types import spark_schema
from tests.support.lakes.loaded_tables import LoadedTable

pytestmark = pytest.mark.spark


def hashes(session: SparkSession, rows: list[tuple[Any, ...]], *types: str) -> list[str]:
    columns = [Column(name=f"c{number}", type=reported) for number, reported in enumerate(types)]
    frame = session.createDataFrame(rows, spark_schema(TableSchema(columns=tuple(columns))))
    return [row[0] for row in frame.select(content_hash(columns)).collect()]


def test_where_a_null_stands_counts(session: SparkSession) -> None:
    rows = [("a", None), (None, "a"), (None, None), ("", None), (None, ""), ("", ""), ("N", "N")]
    assert len(set(hashes(session, rows, "string", "string"))) == len(rows)


def test_where_one_text_ends_and_the_next_begins_counts(session: SparkSession) -> None:
    rows = [("ab", "c"), ("a", "bc"), ("abc", ""), ("", "abc"), ("a;", "bc"), ("1:a", "S2:bc")]
    assert len(set(hashes(session, rows, "string", "string"))) == len(rows)


def test_the_type_of_a_value_counts(session: SparkSession) -> None:
    found = [
        *hashes(session, [(1,)], "long"),
        *hashes(session, [("1",)], "string"),
        *hashes(session, [(1.0,)], "double"),
        *hashes(session, [(True,)], "boolean"),
        *hashes(session, [(Decimal(1),)], "decimal(1,0)"),
        *hashes(session, [(date(1970, 1, 2),)], "date"),
        *hashes(session, [(bytearray(b"1"),)], "binary"),
        *hashes(session, [(datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC),)], "timestamp"),
    ]
    assert len(set(found)) == len(found)


def test_a_wider_integer_is_the_same_value(session: SparkSession) -> None:
    """Widening a column does not change its rows."""
    assert hashes(session, [(7,)], "integer") == hashes(session, [(7,)], "long")


@pytest.mark.parametrize("data_type", ["float", "double"])
def test_numbers_that_are_equal_have_one_hash(session: SparkSession, data_type: str) -> None:
    zeros = hashes(session, [(0.0,), (-0.0,)], data_type)
    assert len(set(zeros)) == 1
    odd = hashes(session, [(math.nan,), (-math.nan,), (math.inf,), (-math.inf,)], data_type)
    assert len(set(odd)) == 3
    assert not set(odd) & set(zeros)


def test_a_column_more_that_is_null_leaves_the_hash_as_it_was(session: SparkSession) -> None:
    """Otherwise every row of a table that gains a column would count as changed."""
    columns = [Column(name=name, type="string") for name in ("b", "c")]
    frame = session.createDataFrame([("x", None)], "b string, c string")
    before, after = frame.select(content_hash(columns[:1]), content_hash(columns)).collect()[0]
    assert before == after


def test_the_order_of_columns_in_the_definition_does_not_count(session: SparkSession) -> None:
    columns = [Column(name=name, type="string") for name in ("b", "c")]
    frame = session.createDataFrame([("x", "y")], "b string, c string")
    one, other = frame.select(content_hash(columns), content_hash(columns[::-1])).collect()[0]
    assert one == other


@pytest.mark.parametrize("strategy", list(HashStrategy))
def test_every_strategy_updates_what_changed(
    tmp_path: Path, spark: SparkSession, strategy: HashStrategy
) -> None:
    """Including the strategy that hashes keys, which never change, and no hash at all."""
    load = Load(type=LoadType.INCREMENTAL, keys=("k",), hash=strategy)
    table = LoadedTable(tmp_path / "project", load, {"k": "long", "v": "string"})
    table.land([{"k": 1, "v": "old"}, {"k": 2, "v": None}, {"k": 3, "v": "same"}])
    table.run()
    table.land([{"k": 1, "v": "new"}, {"k": 2, "v": "told"}, {"k": 3, "v": "same"}])
    table.run()
    changes = table.changes
    assert changes is not None
    assert (changes.inserted, changes.updated, changes.unchanged) == (0, 2, 1)
    written = {"NONE": [], "ROW_HASH": ["row_hash"], "KEY_HASH": ["key_hash"]}[strategy]
    found = table.by_spark(spark)
    assert {(row["k"], row["v"]) for row in found} == {(1, "new"), (2, "told"), (3, "same")}
    assert list(found[0]) == ["k", "v", *written]

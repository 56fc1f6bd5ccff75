"""Spark says of every condition what DuckDB and a plain Python oracle say."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from random import Random

import duckdb
import pytest
from pyspark.sql import SparkSession

from openlaketx.engine.spark.errors import SPARK_ERRORS
from openlaketx.engine.spark.session import run_session
from tests.property.measure.engines import (
    by_duckdb,
    by_python,
    by_spark,
    condition_of,
    drawn,
    drawn_totals,
    every,
    total_by_python,
    totals_by_spark,
    write,
)
from tests.property.measure.expressions import TYPES, rows
from tests.property.measure.totals import TOO_WIDE, agree

pytestmark = pytest.mark.spark

VIEW = "measured_expressions"
WIDE_RESULTS = ("wide * small > 1", "wide + wide > 1", "`Long Column` * `Long Column` * 100 > 0")
_BATCH = 45


def disagreements(spark: SparkSession, seed: int, count: int, folder: Path) -> list[object]:
    """Conditions that the three do not count alike; all of a batch are asked in one query."""
    chance = Random(seed)
    table = rows(chance, 150)
    file = folder / f"{seed}.parquet"
    write(file, table)
    frame = spark.read.parquet(str(file))
    assert frame.columns == list(TYPES)
    frame.createOrReplaceTempView(VIEW)
    conditions = (every() if seed == 0 else {}) | drawn(chance, count, depth=2)
    expected = {text: by_python(found, table) for text, found in conditions.items()}
    plain = [text for text in conditions if expected[text] is not None]
    wrong: list[object] = []
    for start in range(0, len(plain), _BATCH):
        texts = plain[start : start + _BATCH]
        asked = [conditions[text] for text in texts]
        answers = zip(texts, by_spark(asked, VIEW, spark), by_duckdb(asked, file), strict=True)
        wrong += [
            (text, one, other, expected[text])
            for text, one, other in answers
            if not one == other == expected[text]
        ]
    return wrong


def test_spark_and_duckdb_equal_the_oracle(spark: SparkSession, tmp_path: Path) -> None:
    assert disagreements(run_session(spark), 0, 60, tmp_path) == []


def test_aggregates_of_values_equal_the_oracle(spark: SparkSession, tmp_path: Path) -> None:
    chance = Random(3)
    table = rows(chance, 60)
    file = tmp_path / "totals.parquet"
    write(file, table)
    session = run_session(spark)
    session.read.parquet(str(file)).createOrReplaceTempView(VIEW)
    asked = drawn_totals(chance, 80)
    expected = {text: total_by_python(measure, table) for text, measure in asked.items()}
    plain = [text for text in asked if expected[text][0] != TOO_WIDE]
    assert len(plain) > _BATCH
    found = totals_by_spark([asked[text] for text in plain], VIEW, session)
    wrong = [
        (text, value, expected[text][0])
        for text, value in zip(plain, found, strict=True)
        if not agree(value, *expected[text])
    ]
    assert wrong == []


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(2_000, 2_002))
def test_many_conditions_mean_the_same_to_spark_duckdb_and_the_oracle(
    seed: int, spark: SparkSession, tmp_path: Path
) -> None:
    assert disagreements(run_session(spark), seed, 180, tmp_path) == []


@pytest.mark.parametrize("text", WIDE_RESULTS)
def test_what_has_too_many_digits_raises_in_both_engines(
    text: str, spark: SparkSession, tmp_path: Path
) -> None:
    condition = condition_of(text)
    table = [row | {"wide": Decimal("99999999999999999999"), "Long Column": 2**63 - 1, "small": 9}
             for row in rows(Random(1), 3)]  # fmt: skip
    assert by_python(condition, table) is None
    write(tmp_path / "wide.parquet", table)
    session = run_session(spark)
    session.read.parquet(str(tmp_path / "wide.parquet")).createOrReplaceTempView(VIEW)
    with pytest.raises(SPARK_ERRORS, match=r"NUMERIC_VALUE_OUT_OF_RANGE|ARITHMETIC_OVERFLOW"):
        by_spark([condition], VIEW, session)
    with pytest.raises(duckdb.Error, match=r"out of range|Could not cast|Overflow"):
        by_duckdb([condition], tmp_path / "wide.parquet")

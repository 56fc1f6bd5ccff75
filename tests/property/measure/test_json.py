"""DuckDB and Spark say of JSON texts what plain Python says."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lakeguard.gate.rule_types.catalog import RULE_TYPES
from lakeguard_sdk.expressions.json_values import NotJson, read_json
from lakeguard_sdk.expressions.measures import Measure, measure_key
from openlaketx.engine.spark.session import run_session
from openlaketx.measure import MeasureOptions, Subject, take_measures
from openlaketx.measure.engine_choice import EngineChoice
from tests.property.measure import json_oracle
from tests.property.measure.json_rows import RULES, SCHEMA, TELLING, questions, rows
from tests.property.measure.oracle import chosen
from tests.property.measure.staging import staged


def expected(table: list[dict[str, Any]]) -> list[int]:
    found = []
    for question in questions():
        picked = [row["payload"] for row in chosen(table, question.where)]
        found.append(json_oracle.faults(question, [text for text in picked if text is not None]))
    return found


def measured_values(
    subject: Subject, options: MeasureOptions, session: SparkSession | None
) -> list[Any]:
    asked: list[Measure] = list(questions())
    measured = take_measures(asked, subject, options, session)
    assert measured.unmeasured == {}
    assert measured.engine.startswith(f"{options.engine.value} ")
    return [measured.values[measure_key(question)] for question in asked]


def test_every_rule_about_json_is_asked() -> None:
    known = {rule_type.name for rule_type in RULE_TYPES if rule_type.name.startswith("json_")}
    assert {text.partition("(")[0] for text in RULES} == known
    assert len(questions()) == len(RULES)


@pytest.mark.parametrize("text", TELLING)
def test_what_is_json(text: str) -> None:
    try:
        wanted: object = json_oracle.value_of(text)
    except json_oracle.Wrong:
        with pytest.raises(NotJson):
            read_json(text)
    else:
        assert read_json(text) == wanted


@pytest.mark.parametrize("seed", range(3))
def test_duckdb_equals_the_oracle(seed: int, tmp_path: Path) -> None:
    table = rows(Random(seed), 300)
    subject = staged(tmp_path, table, [], SCHEMA)
    assert measured_values(subject, MeasureOptions(EngineChoice.DUCKDB), None) == expected(table)


@pytest.mark.spark
@pytest.mark.soak
def test_spark_equals_the_oracle(spark: SparkSession, tmp_path: Path) -> None:
    table = rows(Random(7), 300)
    subject = staged(tmp_path, table, [], SCHEMA)
    assert measured_values(
        subject, MeasureOptions(EngineChoice.SPARK), run_session(spark)
    ) == expected(table)


def test_no_rows_have_no_faults(tmp_path: Path) -> None:
    assert measured_values(
        staged(tmp_path, [], [], SCHEMA), MeasureOptions(EngineChoice.DUCKDB), None
    ) == [0] * len(RULES)

"""Spark says of every measure what DuckDB and plain Python say."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from lakeguard_sdk.expressions.measures import (
    Aggregate,
    CountIf,
    DuplicateRows,
    RowCount,
    measure_key,
)
from openlaketx.engine.spark.session import run_session
from openlaketx.measure import Measured, MeasureOptions, take_measures
from openlaketx.measure.engine_choice import EngineChoice
from tests.property.measure.agreement import UNMEASURED, expected_of, same_answer
from tests.property.measure.group_questions import close_rows, groups, keys, sequences, spreads
from tests.property.measure.questions import SCHEMA, measures
from tests.property.measure.staging import staged_beside
from tests.support.examples import examples

pytestmark = pytest.mark.spark

ROWS = close_rows()
QUESTIONS = st.tuples(
    *(st.lists(kind, min_size=12, max_size=12) for kind in (groups(), keys(), sequences())),
    st.lists(spreads() | measures(), min_size=40, max_size=40),
).map(lambda kinds: list(dict.fromkeys(question for kind in kinds for question in kind)))
_PLAIN = (RowCount, CountIf, Aggregate, DuplicateRows)


def disagreements(spark: SparkSession, rows: tuple[Any, Any, Any], questions: Any) -> list[Any]:
    batch, existing, others = rows
    with tempfile.TemporaryDirectory() as folder:
        subject = staged_beside(Path(folder), batch, existing, others, SCHEMA)
        one = take_measures(questions, subject, MeasureOptions(EngineChoice.SPARK), spark)
        other = take_measures(questions, subject, MeasureOptions(EngineChoice.DUCKDB), spark)
    assert one.engine.startswith("spark ")
    assert other.engine.startswith("duckdb ")
    wrong = []
    for question in questions:
        found = [_told(measured, question) for measured in (one, other)]
        if not isinstance(question, _PLAIN):
            found.append(expected_of(question, batch, existing, others))
        if not all(same_answer(question, found[0], reported) for reported in found[1:]):
            reasons = [m.unmeasured.get(measure_key(question)) for m in (one, other)]
            wrong.append((question, found, reasons))
    return wrong


def _told(measured: Measured, question: Any) -> Any:
    key = measure_key(question)
    return UNMEASURED if key in measured.unmeasured else measured.values[key]


@given(batch=ROWS, existing=ROWS, others=ROWS, questions=QUESTIONS)
@examples(4, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
def test_spark_equals_duckdb_and_the_oracle(
    spark: SparkSession, batch: Any, existing: Any, others: Any, questions: Any
) -> None:
    assert disagreements(run_session(spark), (batch, existing, others), questions) == []

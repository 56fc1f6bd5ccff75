"""DuckDB and the footers say what a plain Python oracle says, for every kind of measure."""

from __future__ import annotations

import math
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from lakeguard_sdk.expressions.measures import (
    Aggregate,
    AggregateFunction,
    DuplicateRows,
    MeasureValue,
    measure_key,
)
from lakeguard_sdk.types.schema import FLOATS, decimal_size
from openlaketx.measure import take_measures
from openlaketx.measure.sql.value_text import (
    day,
    double,
    exact,
    instant,
    local_instant,
    rounded,
    whole,
)
from tests.property.measure import oracle
from tests.property.measure.questions import SCHEMA, measures, rows
from tests.property.measure.staging import staged
from tests.support.examples import examples

QUESTIONS = st.lists(measures(), min_size=6, max_size=12)


def check(batch: Any, existing: Any, questions: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        subject = staged(
            Path(folder), batch, existing, SCHEMA, without_duplicates(existing, questions)
        )
        measured = take_measures(questions, subject)
    for question in questions:
        key = measure_key(question)
        try:
            expected = oracle.measure(question, batch, [*batch, *existing])
        except OverflowError:
            assert may_be_unmeasured(question, batch), question
            continue
        if key in measured.unmeasured:
            assert may_be_unmeasured(question, batch), (question, measured.unmeasured[key])
            continue
        assert agrees(measured.values[key], expected, question, batch), (
            question,
            measured.values[key],
            expected,
        )


def without_duplicates(existing: Any, questions: Any) -> tuple[str, ...]:
    """What a version would have proved before the batch came."""
    return tuple(
        measure_key(question)
        for question in questions
        if isinstance(question, DuplicateRows) and not oracle.measure(question, existing, existing)
    )


def agrees(value: MeasureValue, expected: Any, question: Any, batch: Any) -> bool:
    if not isinstance(question, Aggregate):
        return value == expected
    data_type = question.column.type
    inexact = question.function in (AggregateFunction.SUM, AggregateFunction.MEAN)
    if inexact and data_type in FLOATS and isinstance(value, float):
        numbers = [abs(row[question.column.name] or 0.0) for row in batch]
        return math.isclose(
            value, expected, rel_tol=1e-11, abs_tol=1e-11 * min(sum(numbers), 1e308)
        )
    return value == spelled(expected, question)


def spelled(value: Any, question: Aggregate) -> MeasureValue:
    data_type = question.column.type
    if value is None:
        return None
    if question.function is AggregateFunction.MEAN:
        return rounded(value)
    if data_type in FLOATS:
        return rounded(value) if question.function is AggregateFunction.SUM else double(value)
    if size := decimal_size(data_type):
        return exact(value, size[1])
    if data_type == "date":
        return day(value)
    if data_type == "timestamp":
        return instant(value)
    if data_type == "timestamp_ntz":
        return local_instant(value)
    if data_type == "boolean":
        return "true" if value else "false"
    return value if data_type == "string" else whole(value)


def may_be_unmeasured(question: Any, batch: Any) -> bool:
    """Only sums that no engine can hold: beyond doubles, or beyond 38 digits."""
    if not isinstance(question, Aggregate):
        return False
    values = [row[question.column.name] for row in batch]
    present = [abs(value) for value in values if value is not None]
    if question.column.type in FLOATS:
        return sum(value for value in present if not math.isnan(value)) == math.inf
    size = decimal_size(question.column.type)
    return size is not None and sum(present) >= Decimal(10) ** (38 - size[1])


@given(batch=rows(30), existing=rows(10), questions=QUESTIONS)
@examples(200, quick=15, suppress_health_check=list(HealthCheck))
def test_measures_equal_the_oracle(batch: Any, existing: Any, questions: Any) -> None:
    check(batch, existing, questions)

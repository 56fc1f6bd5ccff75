"""DuckDB says what plain Python says of keys, groups, sequences and spreads."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from lakeguard_sdk.expressions.measures import measure_key
from openlaketx.measure import take_measures
from tests.property.measure.agreement import expected_of, same_answer
from tests.property.measure.group_questions import close_rows, groups, keys, sequences, spreads
from tests.property.measure.questions import SCHEMA, rows
from tests.property.measure.staging import staged_beside
from tests.support.examples import examples

ROWS = st.one_of(close_rows(), close_rows(), rows(6))
QUESTIONS = st.lists(st.one_of(groups(), keys(), sequences(), spreads()), min_size=6, max_size=12)


def check(batch: Any, existing: Any, others: Any, questions: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        subject = staged_beside(Path(folder), batch, existing, others, SCHEMA)
        measured = take_measures(questions, subject)
    for question in questions:
        key = measure_key(question)
        wanted = expected_of(question, batch, existing, others)
        found = "unmeasured" if key in measured.unmeasured else measured.values[key]
        assert same_answer(question, found, wanted), (
            question,
            found,
            wanted,
            measured.unmeasured.get(key),
        )


@given(batch=ROWS, existing=ROWS, others=ROWS, questions=QUESTIONS)
@examples(150, quick=15, suppress_health_check=list(HealthCheck))
def test_measures_equal_the_oracle(batch: Any, existing: Any, others: Any, questions: Any) -> None:
    check(batch, existing, others, questions)

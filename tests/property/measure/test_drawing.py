"""As many failing rows are shown as were counted, up to how many are kept."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from lakeguard_sdk.expressions.measures import (
    ComparedPart,
    ComparedRows,
    CountIf,
    DuplicateRows,
    GroupBreach,
    GroupFaults,
    GroupPart,
    IntervalFaults,
    OutOfOrder,
    SequenceGaps,
    UnmatchedRows,
    measure_key,
)
from lakeguard_sdk.model.row_sample import MOST_SAMPLED
from openlaketx.measure import MeasureOptions, SampleRequest, draw_samples, take_measures
from tests.property.measure.group_questions import close_rows, groups, keys, sequences
from tests.property.measure.questions import SCHEMA, measures, rows
from tests.property.measure.staging import staged_beside
from tests.support.examples import examples

COUNTS_ROWS = (
    CountIf,
    DuplicateRows,
    UnmatchedRows,
    SequenceGaps,
    OutOfOrder,
    IntervalFaults,
    GroupBreach,
    GroupFaults,
    ComparedRows,
)
ROWS = st.one_of(close_rows(), close_rows(), rows(6))
QUESTIONS = st.lists(
    st.one_of(groups(), keys(), sequences(), measures()), min_size=8, max_size=16
).map(lambda asked: [item for item in asked if counts_rows(item)])


def counts_rows(measure: Any) -> bool:
    part = getattr(measure, "part", GroupPart.ROWS)
    return isinstance(measure, COUNTS_ROWS) and part in (GroupPart.ROWS, ComparedPart.DIFFERING)


def to_show(measure: Any, counted: int, more: int) -> int:
    """Of rows that differ, those that this table has: it has so many ``more`` than the other."""
    own = (counted + more) // 2 if isinstance(measure, ComparedRows) else counted
    return min(own, MOST_SAMPLED)


@given(batch=ROWS, existing=ROWS, others=ROWS, questions=QUESTIONS)
@examples(60, suppress_health_check=list(HealthCheck))
def test_what_is_counted_is_shown(batch: Any, existing: Any, others: Any, questions: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        subject = staged_beside(Path(folder), batch, existing, others, SCHEMA)
        measured = take_measures(questions, subject).values
        asked = SampleRequest({measure_key(question): question for question in questions})
        drawn = draw_samples(asked, subject, MeasureOptions(), 60.0)
    shown = {sample.rule_id: len(sample.rows) for sample in drawn}
    more = len(batch) + len(existing) - len(others)
    wanted = {
        key: to_show(asked.counted[key], int(str(found)), more) for key, found in measured.items()
    }
    assert shown == {key: rows for key, rows in wanted.items() if rows}

"""Measures of one table agree with each other; evidence in which they do not blocks."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from lakeguard.gate.evaluation.measure_agreement import disagreements
from lakeguard.gate.rules.compile import compile_text
from lakeguard_sdk.core.enums import Outcome, Verdict
from lakeguard_sdk.expressions.measures import MeasureValue, measure_key
from lakeguard_sdk.model.evidence import Evidence
from tests.unit.gate.cases import SCHEMA, evidence_of, result_of, row, rule, ruling

RULES = tuple(
    rule(text, rule_id=f"r{number}")
    for number, text in enumerate(
        (
            "range(count, min=0, max=10)",
            "range(count, min=0, max=10) where active = true",
            "not_null(count)",
            "null(count)",
            "mean(count, max=5)",
            "sum(count, max=50)",
            "deviation(count, max=5)",
            "quantile(count, q=0.5, max=5)",
            "quantile(count, q=0.9, max=5)",
            "distinct(count, min=1) scope batch",
            "unique(count) scope batch",
            "most_common(count, max=50%) scope batch",
            "distinct_ratio(count, min=50%) scope batch",
            "completeness(count, min=50%)",
        )
    )
)
ROWS = [row(count=n, active=n > 2, delay=float(n)) for n in (1, 2, 3, 3, -5)] + [row(count=None)]


def measured(text: str, which: int = 0) -> str:
    """The key of a measure of a rule."""
    return measure_key(compile_text(text, SCHEMA).measures[which])


def forged(key: str, value: MeasureValue) -> Evidence:
    evidence = evidence_of(RULES, ROWS)
    assert key in evidence.measures
    return evidence.model_copy(update={"measures": {**evidence.measures, key: value}})


def check(evidence: Evidence) -> Any:
    return result_of("evidence", ruling(evidence, RULES))


def test_what_was_measured_agrees() -> None:
    found = check(evidence_of(RULES, ROWS))
    assert found.outcome is Outcome.PASS, found.message


@pytest.mark.parametrize(
    ("text", "which", "value", "message"),
    [
        ("range(count, min=0, max=10)", 0, 0, "an extreme meets a condition"),
        ("range(count, min=0, max=10)", 0, 7, "among 6"),
        ("range(count, min=0, max=10)", 2, 1, "no value between the extremes"),
        ("range(count, min=0, max=10)", 2, 4, "the minimum is above the maximum"),
        ("range(count, min=0, max=10)", 3, None, "some aggregates have a value"),
        ("not_null(count)", 0, 6, "counted differently"),
        ("null(count)", 0, 6, "exclude each other"),
        ("mean(count, max=5)", 0, 4.5, "the mean is outside"),
        ("sum(count, max=50)", 0, 40, "the sum does not fit"),
        ("deviation(count, max=5)", 0, 9.5, "the deviation does not fit"),
        ("quantile(count, q=0.5, max=5)", 0, -6.0, "the 0.5 quantile is outside"),
        ("quantile(count, q=0.9, max=5)", 0, -4.0, "a higher quantile is below"),
        ("distinct(count, min=1) scope batch", 0, 5, "number of distinct keys does not fit"),
        ("distinct(count, min=1) scope batch", 0, 1, "does not fit"),
        ("unique(count) scope batch", 0, 1, "takes two"),
        ("unique(count) scope batch", 0, 0, "does not fit"),
        ("most_common(count, max=50%) scope batch", 0, 1, "most common"),
        ("range(count, min=0, max=10) where active = true", 0, 2, "of some"),
        ("range(count, min=0, max=10) where active = true", 3, 9, "above that of all"),
    ],
)
def test_measures_that_no_table_has_block(
    text: str, which: int, value: MeasureValue, message: str
) -> None:
    found = check(forged(measured(text, which), value))
    assert found.outcome is Outcome.ERROR
    assert message in found.message


def test_a_minimum_below_zero_beside_no_row_below_zero() -> None:
    rules = (rule("range(amount, min=0)"),)
    evidence = evidence_of(rules, [row(amount=Decimal("-5.00"))])
    (failed,) = [key for key, value in evidence.measures.items() if key.startswith("count_if")]
    lying = evidence.model_copy(update={"measures": {**evidence.measures, failed: 0}})
    assert ruling(evidence, rules).reasons[0].startswith("range.amount")
    ruled = ruling(lying, rules)
    assert ruled.verdict is Verdict.BLOCKED
    assert "amount" in ruled.reasons[0]


@pytest.mark.parametrize("quarantining", [False, True])
def test_a_key_may_repeat_only_after_other_rows_were_quarantined(quarantining: bool) -> None:
    """The row that it repeats stays in a partition that the run does not replace."""
    measures = compile_text("unique(count) scope batch", SCHEMA).measures
    found = disagreements(measures, {measure_key(measures[0]): 1}, 3, 3, quarantining=quarantining)
    assert bool(found) is not quarantining

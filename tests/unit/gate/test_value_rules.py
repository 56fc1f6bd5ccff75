"""Rules about one value: row_count, mean, min, max, sum."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from lakeguard_sdk.core.enums import Outcome, Severity
from tests.unit.gate.cases import judged, row

NAN = float("nan")


def rows(column: str, *values: Any) -> list[dict[str, Any]]:
    return [row(**{column: value}) for value in values]


@pytest.mark.parametrize(
    ("text", "count", "outcome"),
    [
        ("row_count(min=2)", 1, Outcome.FAIL),
        ("row_count(min=2)", 2, Outcome.PASS),
        ("row_count(max=2)", 2, Outcome.PASS),
        ("row_count(max=2)", 3, Outcome.FAIL),
        ("row_count(min=1)", 0, Outcome.FAIL),
        ("row_count(max=0)", 0, Outcome.PASS),
        ("row_count(min=2, max=2)", 2, Outcome.PASS),
        ("row_count() warn_if < 3", 2, Outcome.WARN),
        ("row_count() warn_if < 3 fail_if < 1", 0, Outcome.FAIL),
        ("row_count() warn_if < 3 fail_if < 1", 1, Outcome.WARN),
        ("row_count() warn_if < 3 fail_if < 1", 3, Outcome.PASS),
        ("row_count() fail_if = 2", 2, Outcome.FAIL),
        ("row_count() fail_if <> 2", 2, Outcome.PASS),
    ],
)
def test_row_count(text: str, count: int, outcome: Outcome) -> None:
    found = judged(text, [row() for _ in range(count)])
    assert found.outcome is outcome
    assert found.observed == count


@pytest.mark.parametrize(
    ("text", "column", "values", "outcome"),
    [
        ("mean(count, min=2, max=2)", "count", [1, 3, None], Outcome.PASS),
        ("mean(count, max=1.9)", "count", [1, 3], Outcome.FAIL),
        ("mean(delay, max=0.1)", "delay", [0.1, 0.1, 0.1], Outcome.PASS),
        ("mean(delay, min=0.1234567890123)", "delay", [0.1234567890123], Outcome.PASS),
        ("mean(delay, max=5)", "delay", [1.0, NAN], Outcome.FAIL),
        ("mean(delay) fail_if > 5", "delay", [1.0, NAN], Outcome.FAIL),
        ("min(count, min=1)", "count", [1, 5], Outcome.PASS),
        ("min(count, min=1.5)", "count", [1, 5], Outcome.FAIL),
        ("max(count, max=5)", "count", [1, 5], Outcome.PASS),
        ("max(ratio, max=0.1)", "ratio", [0.10000000149011612], Outcome.PASS),
        ("max(delay, max=5)", "delay", [float("inf")], Outcome.FAIL),
        ("max(delay, max=5)", "delay", [1.0, NAN], Outcome.FAIL),
        ("max(amount, max=1.5)", "amount", [Decimal("1.50")], Outcome.PASS),
        ("max(amount, max=1.499)", "amount", [Decimal("1.50")], Outcome.FAIL),
        ("sum(count, min=6, max=6)", "count", [1, 2, 3], Outcome.PASS),
        ("sum(size, max=9223372036854775808)", "size", [2**63 - 1, 2], Outcome.FAIL),
        ("sum(size, max=9223372036854775809)", "size", [2**63 - 1, 2], Outcome.PASS),
        ("sum(amount, min=0.3)", "amount", [Decimal("0.10"), Decimal("0.20")], Outcome.PASS),
        ("max(day, min='2013-12-31')", "day", [date(2013, 12, 31)], Outcome.PASS),
        ("max(day, min='2013-12-31')", "day", [date(2013, 12, 30)], Outcome.FAIL),
        ("min(dep, min='2013-01-01T00:00:00Z')", "dep", [datetime(2013, 1, 1, tzinfo=UTC)],
         Outcome.PASS),
        ("max(local, max='2013-01-01 00:00')", "local", [datetime(2013, 1, 1, 0, 1)],  # noqa: DTZ001
         Outcome.FAIL),
    ],
)  # fmt: skip
def test_aggregates(text: str, column: str, values: list[Any], outcome: Outcome) -> None:
    assert judged(text, rows(column, *values)).outcome is outcome


@pytest.mark.parametrize("function", ["mean", "min", "max", "sum"])
@pytest.mark.parametrize("limit", ["(count, min=0)", "(count, max=0)", "(count) fail_if > 1"])
def test_no_value_to_judge_fails(function: str, limit: str) -> None:
    found = judged(f"{function}{limit}", rows("count", None, None))
    assert found.outcome is Outcome.FAIL
    assert found.message.startswith(f"{function} of count has no value")


def test_no_value_to_judge_only_warns_where_the_rule_only_warns() -> None:
    assert judged("mean(count, min=0)", [], severity=Severity.WARN).outcome is Outcome.WARN
    assert judged("mean(count) warn_if > 5", []).outcome is Outcome.WARN


def test_where_chooses_the_rows() -> None:
    data = [row(name="X", count=100), row(name="Y", count=1)]
    found = judged("max(count, max=5) where name <> 'X'", data)
    assert found.outcome is Outcome.PASS
    assert found.message == "max of count where name <> 'X' is 1, limit at most 5"

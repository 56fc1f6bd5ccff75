"""Groups of rows, each held against a condition over its aggregates."""

from __future__ import annotations

from typing import Any

import pytest

from lakeguard.gate.rules.compile import compile_text
from lakeguard.gate.rules.parse import parse_rule, rule_text
from lakeguard_sdk.core.enums import Outcome
from lakeguard_sdk.expressions.aggregates import holds
from lakeguard_sdk.expressions.measures import GroupFaults, RowCount
from tests.unit.gate.cases import SCHEMA, judged, refusal, row

NAN = float("nan")
WORDS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def rows(*pairs: tuple[Any, Any]) -> list[dict[str, Any]]:
    return [row(name=name, count=count, size=1) for name, count in pairs]


DATA = rows(("a", 1), ("a", 3), ("b", 5), ("b", 5), ("c", None), (None, 2))


@pytest.mark.parametrize(
    ("condition", "failing"),
    [
        ("sum(count) > 2", 2),
        ("sum(count) >= 4", 2),
        ("min(count) = max(count)", 3),
        ("min(count) = max(count) or max(count) is null", 2),
        ("count(*) <= 1", 4),
        ("count(count) = count(*)", 1),
        ("avg(count) between 2 and 5", 1),
        ("avg(count) not between 2 and 5", 6),
        ("sum(count) in (4, 10)", 2),
        ("sum(count) / count(*) < 5", 3),
        ("sum(count) / (count(count) - 2) > 0", 6),
        ("sum(count) % 4 = 0", 4),
        ("not sum(count) = 10", 3),
        ("sum(count * size) > 3 and count(*) = 2", 2),
        ("(sum(count) > 9 or sum(count) < 3) and count(*) > 1", 4),
    ],
)
def test_rows_of_groups_fail_together(condition: str, failing: int) -> None:
    found = judged(f"sql_query({condition}) by name", DATA)
    assert (found.failed_rows, found.scope_rows) == (failing, 6)
    assert found.outcome is (Outcome.FAIL if failing else Outcome.PASS)


def test_only_the_chosen_rows_are_grouped() -> None:
    found = judged("sql_query(sum(count) > 3) by name where count > 1", DATA)
    assert (found.failed_rows, found.scope_rows) == (2, 4)
    assert judged("sql_query(sum(count) > 3) by name fail_if > 50%", DATA).outcome is Outcome.PASS


def test_nan_is_above_every_number() -> None:
    data = [row(name="a", delay=NAN), row(name="b", delay=1.0)]
    assert judged("sql_query(max(delay) < 5) by name", data).failed_rows == 1
    assert judged("sql_query(max(delay) > 5) by name", data).failed_rows == 1


def held(condition: str, value: str) -> bool | None:
    """What a group comes to whose every aggregate but its rows has this value."""
    rule = compile_text(f"sql_query({condition}) by name", SCHEMA)
    (faults,) = (asked for asked in rule.measures if isinstance(asked, GroupFaults))
    values = [1 if isinstance(term, RowCount) else value for term in faults.terms]
    return holds(faults.condition, values)


def test_infinity_by_itself_is_compared() -> None:
    assert held("sum(delay) > 5", "Infinity") is True
    assert held("sum(delay) > 5", "-Infinity") is False
    assert held("sum(delay) > 5", "NaN") is True
    assert held("sum(delay) - 5 > 0", "7.5") is True
    assert held("sum(delay) / 0.5 = 15", "7.5") is True


@pytest.mark.parametrize("odd", [NAN, float("inf"), float("-inf")])
@pytest.mark.parametrize(
    "condition",
    [
        "sum(delay) - 5 > 0",
        "sum(delay) * 2 >= 0",
        "max(delay) / 2 <> 1",
        "not sum(delay) + 1 < 0",
        "count(*) - max(delay) > -1000",
    ],
)
def test_what_is_reckoned_with_no_number_has_no_value(condition: str, odd: float) -> None:
    """Whatever it is compared with: a group of which nothing is known does not pass."""
    data = [row(name="a", delay=odd), row(name="b", delay=7.0)]
    found = judged(f"sql_query({condition}) by name", data)
    assert (found.outcome, found.failed_rows) == (Outcome.FAIL, 1)
    allowed = f"sql_query({condition} or sum(delay) - 1 is null) by name"
    assert judged(allowed, data).failed_rows == 0
    assert held(condition, WORDS[str(odd)]) is None


def test_without_rows_there_are_no_groups() -> None:
    assert judged("sql_query(sum(count) > 3) by name", []).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sql_query(sum(count) > 3)", "sql_query needs by; use sql_agg for all rows together"),
        ("sql_query(count > 3) by name", "a number or one of sum, min, max, avg, count expected"),
        ("sql_query(sum(count)) by name", "a comparison, is null"),
        ("sql_query(sum(count) = sum(count)) by name", "compared with itself"),
        ("sql_query(count(*) > 0) by name", "this is the same for every group"),
        ("sql_query(count(name) >= 0) by key", "this is the same for every group"),
        ("sql_query(count(*) in (0)) by name", "this is the same for every group"),
        ("sql_query(count(*) not in (3, 0)) by name", "this is the same for every group"),
        ("sql_query(count(*) is not null) by name", "this is the same for every group"),
        ("sql_query(count(*) + 1 is null) by name", "this is the same for every group"),
        ("sql_query(count(*) + 1 > 0) by name", "this is the same for every group"),
        ("sql_query(count(*) between -5 and 0) by name", "this is the same for every group"),
        ("sql_query(sum(count) - sum(count) = 0) by name", "this is the same for every group"),
        ("sql_query(sum(count) / 0 > 1) by name", "division by zero"),
        (
            "sql_query(count(distinct key) > 1) by name",
            "count(distinct …) is not supported per group",
        ),
        ("sql_query(max(name) > 1) by key", "max needs a number here"),
        ("sql_query(sum(count) > 'a') by name", "a number or one of"),
        ("sql_query(sum(sum(count)) > 1) by name", "unknown function 'sum'"),
        ("sql_query(1 = 1) by name", "a condition must name a column"),
        ("sql_query(sum(count) > 1) by raw, name, name", "duplicate column name"),
        ("sql_query(sum((select 1)) > 1) by name", "expected"),
    ],
)
def test_refused(text: str, expected: str) -> None:
    assert expected in refusal(text).message


def test_one_spelling() -> None:
    text = "sql_query(not (sum(count) > 1 and avg(size) is null)) by name"
    assert rule_text(parse_rule(text.replace(" ", "  "))) == text


@pytest.mark.parametrize(
    "condition",
    [
        "count(*) between 0 and 5",
        "sum(count) is not null",
        "sum(delay) - sum(delay) = 0",
        "count(*) - count(name) = 0",
        "count(name) / count(*) is not null",
    ],
)
def test_what_says_something_is_taken(condition: str) -> None:
    assert compile_text(f"sql_query({condition}) by key", SCHEMA).measures

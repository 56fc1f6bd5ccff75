"""Rules about how often values occur: once, or more often than every other."""

from __future__ import annotations

from typing import Any

import pytest

from lakeguard.gate.decide import History
from lakeguard_sdk.core.enums import Outcome, Severity
from tests.unit.gate.cases import judged, refusal, row

NAN = float("nan")


def rows(column: str, *values: Any) -> list[dict[str, Any]]:
    return [row(**{column: value}) for value in values]


@pytest.mark.parametrize(
    ("text", "column", "values", "outcome", "message"),
    [
        ("unique_ratio(name, min=50%)", "name", ["a", "a", "b", "c", None], Outcome.PASS,
         "share of unique name is 50 %, limit at least 50 %"),
        ("unique_ratio(name, max=10%)", "name", ["a", "a", "b", "c"], Outcome.FAIL,
         "share of unique name is 50 %, limit at most 10 %"),
        ("unique_ratio(delay, min=1%)", "delay", [NAN, NAN, 0.0, -0.0], Outcome.FAIL,
         "share of unique delay is 0 %, limit at least 1 %"),
        ("unique_ratio(name, min=1%)", "name", [None], Outcome.PASS,
         "share of unique name: no rows"),
        ("most_common(name, max=50%)", "name", ["a", "a", "b", "c", None], Outcome.PASS,
         "share of the most common name is 50 %, limit at most 50 %"),
        ("most_common(name, max=40%)", "name", ["a", "a", "b", "c", None], Outcome.FAIL,
         "share of the most common name is 50 %, limit at most 40 %"),
        ("most_common(name) warn_if > 40%", "name", ["a", "a", "b", "c"], Outcome.WARN,
         "share of the most common name is 50 %, limit at most 40 %"),
        ("most_common(delay, min=60%)", "delay", [NAN, NAN, 1.0], Outcome.PASS,
         "share of the most common delay is 67 %, limit at least 60 %"),
        ("most_common(name, value='a')", "name", ["a", "a", "b", None], Outcome.PASS,
         "2 of 3 rows have 'a', the most common value"),
        ("most_common(name, value='b')", "name", ["a", "b"], Outcome.PASS,
         "1 of 2 rows have 'b', the most common value"),
        ("most_common(name, value='b')", "name", ["a", "a", "b"], Outcome.FAIL,
         "1 of 3 rows have 'b', but 2 have a more common value"),
        ("most_common(name, value='a', max=50%)", "name", ["a", "a", "b"], Outcome.FAIL,
         "share of the most common name is 67 %, limit at most 50 %"),
        ("most_common(name, value='x', min=50%)", "name", ["a", "a", "b"], Outcome.FAIL,
         "0 of 3 rows have 'x', but 2 have a more common value"),
        ("most_common(name, value='x')", "name", [None], Outcome.PASS,
         "0 of 0 rows have 'x', the most common value"),
        ("most_common(count, value=7, min=1%)", "count", [None], Outcome.PASS,
         "share of the most common count: no rows"),
    ],
)  # fmt: skip
def test_shares(text: str, column: str, values: list[Any], outcome: Outcome, message: str) -> None:
    found = judged(text, rows(column, *values))
    assert (found.outcome, found.message) == (outcome, message)


def test_they_are_of_the_table_unless_the_batch_is_asked() -> None:
    before, new = rows("name", "a", "b", "b"), rows("name", "a")
    assert judged("unique_ratio(name, min=1%)", new, before).observed == 0.0
    assert judged("unique_ratio(name, min=1%) scope batch", new, before).observed == 100.0
    assert judged("most_common(name, max=9%)", new, before).observed == 50.0
    assert judged("most_common(name, max=9%) scope batch", new, before).observed == 100.0
    found = judged("most_common(name, value='b') scope batch", new, before)
    assert found.outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("text", "observed"),
    [
        ("most_common(name, value='a')", 75.0),
        ("most_common(name, value='a', max=90%)", 75.0),
        ("most_common(name, value='b')", 25.0),
        ("most_common(name, value='b', min=10%)", 25.0),
    ],
)
def test_a_share_is_observed_whatever_it_comes_to(text: str, observed: float) -> None:
    assert judged(text, rows("name", "a", "a", "a", "b", None)).observed == observed
    assert judged(text, rows("name", None)).observed is None


def test_only_the_chosen_rows_are_looked_at() -> None:
    data = [row(name="a", count=1), row(name="b", count=2), row(name="b", count=2)]
    found = judged("most_common(name, value='a') where count = 1", data)
    assert (found.outcome, found.message) == (
        Outcome.PASS,
        "1 of 1 rows where count = 1 have 'a', the most common value",
    )


def test_another_value_warns_where_the_rule_does() -> None:
    found = judged("most_common(name, value='b')", rows("name", "a"), severity=Severity.WARN)
    assert found.outcome is Outcome.WARN


def test_without_an_earlier_version_a_band_says_nothing() -> None:
    text = "most_common(name, value='a', change=10%)"
    assert judged(text, rows("name", "a"), history=History()).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("most_common(name)", "most_common needs min, max, warn_if or fail_if"),
        ("most_common(name, value=1)", "1 is not a valid string"),
        ("most_common(raw, value='x')", "a binary column cannot be compared"),
        ("most_common(name, value='a', min=90%, max=10%)", "max is less than min"),
        ("most_common(name, count, max=10%)", "most_common takes one column"),
        ("unique_ratio(name)", "unique_ratio needs min, max, warn_if or fail_if"),
        ("unique_ratio(name, min=0.5)", "min needs a percentage"),
    ],
)
def test_refused(text: str, expected: str) -> None:
    assert expected in refusal(text).message

"""The sentences that people read."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from lakeguard.gate.evaluation.messages import (
    bounds_words,
    number_words,
    scalar_words,
    share_words,
)
from lakeguard.gate.grammar.rule import Threshold
from lakeguard.gate.typecheck.checks import Bounds
from lakeguard_sdk.expressions.conditions import Comparison
from tests.unit.gate.cases import judged, row

DELAYS = [row(delay=51180.0), row(delay=-200.0), *(row(delay=1.0) for _ in range(998))]


@pytest.mark.parametrize(
    ("text", "message", "observed", "limit"),
    [
        ("range(delay, min=-120, max=2000) fail_if > 0.1%",
         "2 of 1,000 new rows (0.2 %), worst 51,180, limit 0.1 %", 51180.0, "0.1 %"),
        ("range(delay, min=-120, max=2000) fail_if > 5",
         "2 of 1,000 new rows (0.2 %), worst 51,180, limit 5 rows", 51180.0, "5 rows"),
        ("range(delay, min=-120)",
         "1 of 1,000 new rows (0.1 %), worst -200, none allowed", -200.0, "0 rows"),
        ("range(delay, min=-200, max=51180)", "0 of 1,000 new rows", None, "0 rows"),
        ("mean(delay, max=30)", "mean of delay is 51.978, limit at most 30", 51.978, "at most 30"),
        ("mean(delay, min=5, max=100)", "mean of delay is 51.978, limit 5 to 100", 51.978,
         "5 to 100"),
        ("mean(delay) warn_if >= 50", "mean of delay is 51.978, limit below 50", 51.978,
         "below 50"),
        ("row_count(min=5000)", "1,000 new rows, limit at least 5,000", 1000, "at least 5,000"),
        ("row_count(min=1000, max=1000)", "1,000 new rows, limit exactly 1,000", 1000,
         "exactly 1,000"),
    ],
)  # fmt: skip
def test_messages(text: str, message: str, observed: float | None, limit: str) -> None:
    found = judged(text, DELAYS)
    assert (found.message, found.observed, found.limit) == (message, observed, limit)


def test_one_row_is_a_row() -> None:
    assert judged("row_count(min=1)", [row()]).message == "1 new row, limit at least 1"
    assert judged("not_null(name) fail_if > 1", [row()]).limit == "1 row"


def test_the_worst_value_of_dates_times_and_nan() -> None:
    days = [row(day=date(2013, 1, 1)), row(day=date(2099, 1, 1))]
    assert ", worst 2099-01-01," in judged("range(day, max='2013-12-31')", days).message
    times = [row(dep=datetime(1970, 1, 1, 5, tzinfo=UTC))]
    found = judged("range(dep, min='2013-01-01T00:00:00Z')", times)
    assert ", worst 1970-01-01 05:00:00 UTC," in found.message
    nans = [row(delay=float("nan")), row(delay=1e9)]
    assert ", worst NaN," in judged("range(delay, max=5)", nans).message
    infinite = [row(delay=float("-inf"))]
    assert ", worst -infinity," in judged("range(delay, min=5)", infinite).message


@pytest.mark.parametrize(
    ("failed", "scope", "limit", "words"),
    [
        (397, 776, "0.1", "51 %"),
        (1, 3, None, "33 %"),
        (1, 1, None, "100 %"),
        (999_999, 1_000_000, None, "99.9999 %"),
        (995, 1000, None, "99.5 %"),
        (1, 1_000_000, None, "0.0001 %"),
        (1234, 1_000_000, None, "0.12 %"),
        (1004, 1_000_000, "0.1", "0.1004 %"),
        (1000, 1_000_000, "0.1", "0.1 %"),
        (996, 1_000_000, "0.1", "0.1 %"),
        (0, 5, None, "0 %"),
        (0, 0, None, "0 %"),
    ],
)
def test_a_share_stands_on_the_right_side_of_its_limit(
    failed: int, scope: int, limit: str | None, words: str
) -> None:
    threshold = (
        None if limit is None
        else Threshold(op=Comparison.GT, number=Decimal(limit), percent=True)
    )  # fmt: skip
    assert share_words(failed, scope, threshold) == words


@pytest.mark.parametrize(
    ("number", "words"),
    [
        ("51180", "51,180"),
        ("-51180.25", "-51,180.25"),
        ("-0.5", "-0.5"),
        ("0.00", "0"),
        ("1E+30", "1e30"),
        ("NaN", "NaN"),
        ("Infinity", "infinity"),
        ("-Infinity", "-infinity"),
    ],
)
def test_numbers_in_words(number: str, words: str) -> None:
    assert number_words(Decimal(number)) == words


def test_times_in_words() -> None:
    moment = datetime(2013, 12, 31, 10, 0, 0, 500, tzinfo=UTC)
    assert scalar_words(moment, "timestamp") == "2013-12-31 10:00:00.000500 UTC"
    assert scalar_words(moment, "timestamp_ntz") == "2013-12-31 10:00:00.000500"
    assert bounds_words(Bounds("date", date(2013, 1, 1), None)) == "at least 2013-01-01"

"""Rules about shares, spreads, groups, keys elsewhere, ages and sequences."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from lakeguard_sdk.core.enums import Outcome, Severity
from tests.unit.gate.cases import CLOCK, judged, refusal, row, rule

NAN = float("nan")
DAY = date(2026, 1, 1)


def rows(column: str, *values: Any) -> list[dict[str, Any]]:
    return [row(**{column: value}) for value in values]


@pytest.mark.parametrize(
    ("text", "column", "values", "outcome", "message"),
    [
        ("completeness(name, min=50%)", "name", ["a", None], Outcome.PASS,
         "completeness of name is 50 %, limit at least 50 %"),
        ("completeness(name, min=67%)", "name", ["a", "b", None], Outcome.FAIL,
         "completeness of name is 66.7 %, limit at least 67 %"),
        ("completeness(name) warn_if < 100%", "name", ["a", None], Outcome.WARN,
         "completeness of name is 50 %, limit at least 100 %"),
        ("completeness(name, min=99%)", "name", [], Outcome.PASS,
         "completeness of name: no rows"),
        ("distinct(name, min=2, max=2)", "name", ["a", "b", "a", None], Outcome.PASS,
         "number of distinct name is 2, limit exactly 2"),
        ("distinct_ratio(name, min=100%)", "name", ["a", "b", "a", None], Outcome.FAIL,
         "share of distinct name is 67 %, limit at least 100 %"),
        ("deviation(delay, max=1)", "delay", [1.0, 3.0], Outcome.FAIL,
         "deviation of delay is 1.41421356237, limit at most 1"),
        ("deviation(count, max=1)", "count", [1], Outcome.FAIL,
         "deviation of count has no value, limit at most 1"),
        ("deviation(delay, max=1)", "delay", [1.0, NAN], Outcome.FAIL,
         "deviation of delay is NaN, limit at most 1"),
        ("quantile(delay, q=0.5, max=2.5)", "delay", [1.0, 4.0], Outcome.PASS,
         "0.5 quantile of delay is 2.5, limit at most 2.5"),
        ("quantile(count, q=0.9) fail_if > 9", "count", [1, 11], Outcome.FAIL,
         "0.9 quantile of count is 10, limit at most 9"),
        ("quantile(delay, q=0, max=5)", "delay", [1.0, float("inf")], Outcome.FAIL,
         "0 quantile of delay is NaN, limit at most 5"),
    ],
)  # fmt: skip
def test_values(text: str, column: str, values: list[Any], outcome: Outcome, message: str) -> None:
    found = judged(text, rows(column, *values))
    assert (found.outcome, found.message) == (outcome, message)


def test_distinct_keys_are_those_of_the_table_unless_the_batch_is_asked() -> None:
    before, new = rows("name", "a", "b"), rows("name", "b")
    assert judged("distinct(name, max=1)", new, before).observed == 2
    assert judged("distinct(name, max=1) scope batch", new, before).observed == 1


def test_rows_of_the_table_are_counted_on_request() -> None:
    before, new = rows("name", "a", "b"), rows("name", "b")
    found = judged("row_count(max=2) scope table", new, before)
    assert (found.outcome, found.message) == (
        Outcome.FAIL,
        "3 table rows, limit at most 2",
    )


def test_groups_fail_with_all_their_rows() -> None:
    data = [row(name="a", count=1), row(name="a", count=3), row(name="b", count=50), row(count=99)]
    found = judged("mean(count, max=10) by name", data)
    assert (found.outcome, found.failed_rows, found.scope_rows) == (Outcome.FAIL, 2, 4)
    assert found.observed == 99
    assert found.message == (
        "2 of 4 new rows (50 %) in 2 groups by name: mean of count must be at most 10, worst 99,"
        " none allowed"
    )


def test_limits_of_groups_are_about_their_rows() -> None:
    data = [row(name="a", count=1), row(name="b", count=50)]
    assert judged("max(count, max=10) by name fail_if > 50%", data).outcome is Outcome.PASS
    assert judged("max(count, max=10) by name warn_if > 0", data).outcome is Outcome.WARN


def test_a_group_without_a_value_fails() -> None:
    found = judged("sum(count, min=0) by name", [row(name="a"), row(name="b", count=1)])
    assert (found.outcome, found.failed_rows, found.observed) == (Outcome.FAIL, 1, None)


def test_groups_of_rows_and_of_days() -> None:
    data = [row(name="a", day=DAY), row(name="b", day=DAY), row(name="b", day=date(2030, 1, 1))]
    assert judged("row_count(max=1) by name", data).failed_rows == 2
    assert judged("max(day, max='2026-01-01') by name", data).failed_rows == 2
    assert judged("quantile(count, q=0.5, max=1) by name", data).failed_rows == 3


def test_foreign_keys() -> None:
    others = [row(key="DE", count=1), row(key="FR", count=2), row(key=None, count=3)]
    data = [row(name="DE", size=1), row(name="FR", size=1), row(name=None, size=9)]
    text = "foreign_key(name -> silver.countries(key))"
    assert judged(text, data, others=others).outcome is Outcome.PASS
    found = judged("foreign_key(name, size -> silver.countries(key, count))", data, others=others)
    assert (found.outcome, found.failed_rows) == (Outcome.FAIL, 1)
    assert found.message == "1 of 3 rows of the table (33 %), none allowed"
    wrong = judged("not_in_reference(name -> silver.countries(key))", data, others=others)
    assert (wrong.outcome, wrong.failed_rows) == (Outcome.FAIL, 2)


def test_foreign_keys_are_those_of_the_table_unless_the_batch_is_asked() -> None:
    others, before = [row(key="DE")], [row(name="XX")]
    text = "foreign_key(name -> silver.countries(key))"
    assert judged(text, [row(name="DE")], before, others=others).failed_rows == 1
    assert judged(f"{text} scope batch", [row(name="DE")], before, others=others).failed_rows == 0


@pytest.mark.parametrize(
    ("newest", "limit", "outcome", "message"),
    [
        (CLOCK - timedelta(hours=24), "24h", Outcome.PASS,
         "newest dep is 1 d old, limit at most 1 d"),
        (CLOCK - timedelta(hours=24, seconds=1), "24h", Outcome.FAIL,
         "newest dep is 1 d 1 s old, limit at most 1 d"),
        (CLOCK, "90s", Outcome.PASS, "newest dep is 0 s old, limit at most 1 m 30 s"),
        (CLOCK + timedelta(microseconds=1), "90s", Outcome.FAIL,
         "newest dep is in the future; cannot check freshness, limit at most 1 m 30 s"),
        (None, "2w", Outcome.FAIL, "dep has no value, limit at most 14 d"),
    ],
)  # fmt: skip
def test_freshness(newest: datetime | None, limit: str, outcome: Outcome, message: str) -> None:
    found = judged(
        f"freshness(dep, max={limit})",
        rows("dep", newest, datetime(1999, 1, 1, tzinfo=UTC) if newest else None),
    )
    assert (found.outcome, found.message) == (outcome, message)
    warned = judged(f"freshness(dep, {limit})", rows("dep", newest), severity=Severity.WARN)
    assert warned.outcome is (Outcome.PASS if outcome is Outcome.PASS else Outcome.WARN)


def test_a_date_is_as_old_as_its_first_moment() -> None:
    assert judged("freshness(day, max=12h)", rows("day", CLOCK.date())).outcome is Outcome.PASS
    assert judged("freshness(day, max=11h)", rows("day", CLOCK.date())).outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("text", "failed"),
    [
        ("gaps(count, step=1)", 2),
        ("gaps(count, step=2)", 0),
        ("gaps(count, step=1) by name", 1),
        ("gaps(day, step='1d')", 1),
        ("gaps(day, step='1w')", 0),
        ("increasing(count, day)", 1),
        ("increasing(count, day, strict=true)", 1),
        ("decreasing(count, day)", 2),
        ("decreasing(count, day) by name", 1),
        ("increasing(count, day) where name = 'a'", 0),
    ],
)
def test_sequences(text: str, failed: int) -> None:
    data = [
        row(name="a", count=1, day=DAY),
        row(name="a", count=2, day=DAY + timedelta(days=1)),
        row(name="b", count=6, day=DAY + timedelta(days=3)),
        row(name="b", count=4, day=DAY + timedelta(days=4)),
        row(name=None, count=None, day=None),
    ]
    assert judged(text, data).failed_rows == failed


def test_intervals_of_a_history() -> None:
    one, two, three = (datetime(2026, 1, day, tzinfo=UTC) for day in (1, 2, 3))
    data = [
        row(key="a", dep=one, arr=two),
        row(key="a", dep=two, arr=None),
        row(key="b", dep=one, arr=None),
        row(key="b", dep=two, arr=three),
        row(key="c", dep=one, arr=two),
        row(key="c", dep=three, arr=None),
    ]
    assert judged("no_overlap(dep, arr) by key", data).failed_rows == 1
    assert judged("no_interval_gap(dep, arr) by key", data).failed_rows == 1
    assert judged("no_overlap(dep, arr) by key scope batch", data[:2], data).failed_rows == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("completeness(name, min=0.9)", "min needs a percentage, such as 95%"),
        ("completeness(name) fail_if < 3", "a share needs a percentage"),
        ("quantile(delay, q=95, max=1)", "q needs a number from 0 to 1"),
        ("quantile(delay, max=1)", "quantile needs q"),
        ("quantile(name, q=0.5, max=1)", "quantile needs numbers"),
        ("mean(count) by name", "mean of groups needs min, max or both"),
        ("mean(count, change=5%) by name", "mean of groups needs min, max or both"),
        ("mean(count, max=1) by nobody", "unknown column nobody"),
        ("mean(count, max=1) by name, name", "duplicate column name"),
        ("unique(key) by name", "unique does not support by"),
        ("foreign_key(name)", "-> and a dataset with its columns expected"),
        ("foreign_key(name -> silver.countries)", "'(' expected"),
        ("foreign_key(name -> iron.countries(a))", "is not a dataset"),
        ("foreign_key(name -> silver.countries(a, b))", "the same number of columns"),
        ("foreign_key(delay -> silver.countries(a))", "which cannot be a key"),
        ("freshness(dep, max=24)", "max needs a duration"),
        ("freshness(name, max=24h)", "freshness needs dates or timestamps"),
        ("freshness(dep, max=24h) fail_if > 3", "limits are not supported here"),
        ("gaps(count, step='1d')", "need a number as step"),
        ("gaps(dep, step=1)", "need a duration as step"),
        ("gaps(day, step='36h')", "a step between dates must be whole days"),
        ("gaps(delay, step=1)", "gaps needs integers, dates or timestamps"),
        ("increasing(active, day)", "cannot be ordered"),
        ("no_overlap(dep, day)", "day is date, and dep is timestamp"),
        ("set_drift(name)", "set_drift needs new, gone or both"),
        ("set_drift(name, new=0, most=5000)", "at most 1,000 values"),
        ("psi(count)", "psi needs max"),
        ("psi(count, max=0)", "nothing could change otherwise"),
        ("psi(count, max=0.2) warn_if > 1", "psi needs max="),
        ("psi(raw, max=0.2)", "a column with values to compare"),
        ("null_drift(name)", "null_drift needs max"),
        ("null_drift(name, max=100%)", "this always holds"),
        ("null_drift(name, max=5%) fail_if > 3", "null_drift needs max="),
        ("mean(count, band='weekly')", "band must be one of mad, weekday, hour"),
        ("mean(count, k=3, max=5)", "k needs a band"),
        ("row_count(k=3)", "k needs a band: add band="),
        ("mean(count, least=5)", "least needs a band: add band="),
        ("mean(count, band='mad', change=5%)", "use change or band"),
        ("mean(count, band='mad') fail_if > 3", "not both"),
        ("max(day, change=5%)", "cannot be compared with history"),
        ("mean(count, band='mad', least=1)", "a band needs 2 to 30"),
    ],
)  # fmt: skip
def test_what_means_nothing_is_refused(text: str, message: str) -> None:
    assert message in str(refusal(text))


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("freshness(dep, 24h)", "freshness(dep, max='24h')"),
        ("GAPS(count, 1) BY name, key", "gaps(count, step=1) by name, key"),
        ("mean(count, max = 1) where name = 'x' by `by`",
         "mean(count, max=1) by by where name = 'x'"),
        ("foreign_key( name->silver.c ( `order id` ) )",
         "foreign_key(name -> silver.c(`order id`))"),
        ("completeness(name,min=95.0%)", "completeness(name, min=95%)"),
    ],
)  # fmt: skip
def test_one_spelling(written: str, canonical: str) -> None:
    assert rule(written).expression == canonical
    assert rule(canonical).expression == canonical

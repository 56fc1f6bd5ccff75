"""Every rule that counts rows, at its boundaries: NULL, NaN, empty, exactly at the limit."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from lakeguard_sdk.words import Outcome, Severity
from tests.unit.gate.cases import judged, row

NAN = float("nan")
INFINITY = float("inf")


def failing(text: str, column: str, values: list[Any]) -> list[Any]:
    """Those values of the column that the rule counts, one row at a time."""
    return [value for value in values if judged(text, [row(**{column: value})]).failed_rows == 1]


def test_not_null_counts_nulls_alone() -> None:
    assert failing("not_null(name)", "name", [None, "", " ", "x"]) == [None]
    assert str(failing("not_null(delay)", "delay", [None, NAN, 0.0])) == "[None]"


@pytest.mark.parametrize(
    ("text", "column", "values", "fails"),
    [
        ("range(count, min=1, max=3)", "count", [None, 0, 1, 3, 4], [0, 4]),
        ("range(count, min=0.5, max=3.9)", "count", [0, 1, 3, 4], [0, 4]),
        ("range(count, max=1e12)", "count", [2**31 - 1], []),
        ("range(size, min=-9223372036854775808)", "size", [-(2**63)], []),
        ("range(delay, min=-1, max=1)", "delay", [None, -1.0, 1.0, -INFINITY], [-INFINITY]),
        ("range(delay, max=0.1)", "delay", [0.1, 0.10000000000000002], [0.10000000000000002]),
        ("range(delay, min=0)", "delay", [-0.0, 0.0, -5e-324], [-5e-324]),
        ("range(ratio, max=0.1)", "ratio", [0.10000000149011612, 0.10000000894069672],
         [0.10000000894069672]),
        ("range(amount, min=0.001, max=2.519)", "amount",
         [Decimal("0.00"), Decimal("0.01"), Decimal("2.51"), Decimal("2.52")],
         [Decimal("0.00"), Decimal("2.52")]),
        ("range(day, min='2013-01-01', max='2013-12-31')", "day",
         [None, date(2012, 12, 31), date(2013, 1, 1), date(2013, 12, 31), date(2014, 1, 1)],
         [date(2012, 12, 31), date(2014, 1, 1)]),
        ("range(dep, max='2013-01-01T02:00:00+02:00')", "dep",
         [datetime(2013, 1, 1, tzinfo=UTC), datetime(2013, 1, 1, 0, 0, 0, 1, tzinfo=UTC)],
         [datetime(2013, 1, 1, 0, 0, 0, 1, tzinfo=UTC)]),
        ("length(name, min=1, max=2)", "name", [None, "", "a", "éß", "abc"], ["", "abc"]),
        ("length(name, max=0)", "name", ["", " "], [" "]),
        ("length(name, min=2, max=2)", "name", ["\U0001f600", "ab"], ["\U0001f600"]),
        ("in_set(name, ['A', ''])", "name", [None, "A", "", "a", "A "], ["a", "A "]),
        ("in_set(count, [1, 2])", "count", [None, 1, 3], [3]),
        ("in_set(amount, [1.50])", "amount", [Decimal("1.50"), Decimal("1.51")],
         [Decimal("1.51")]),
        ("in_set(active, [true])", "active", [None, True, False], [False]),
        ("in_set(day, ['2013-12-31'])", "day", [date(2013, 12, 31), date(2013, 12, 30)],
         [date(2013, 12, 30)]),
        ("regex(name, '[A-Z]{2}')", "name", [None, "AB", "ABC", "", "AB\n"], ["ABC", "", "AB\n"]),
        ("regex(name, 'a|b')", "name", ["a", "b", "ab", "xa"], ["ab", "xa"]),
    ],
)  # fmt: skip
def test_values(text: str, column: str, values: list[Any], fails: list[Any]) -> None:
    assert failing(text, column, values) == fails


@pytest.mark.parametrize(
    "text",
    ["range(delay, min=0)", "range(delay, max=0)", "in_set(delay, [1])", "range(ratio, min=0)"],
)
def test_nan_is_within_nothing(text: str) -> None:
    column = "ratio" if "ratio" in text else "delay"
    assert judged(text, [row(**{column: NAN})]).failed_rows == 1


@pytest.mark.parametrize(
    ("relation", "fails"),
    [
        ("<", [(2, 1), (1, 1)]),
        ("<=", [(2, 1)]),
        (">", [(1, 2), (1, 1)]),
        (">=", [(1, 2)]),
        ("=", [(1, 2), (2, 1)]),
        ("<>", [(1, 1)]),
    ],
)
def test_compare(relation: str, fails: list[tuple[int, int]]) -> None:
    pairs = [(1, 2), (2, 1), (1, 1), (None, 1), (1, None), (None, None)]
    text = f"compare(count {relation} size)"
    found = [
        pair for pair in pairs if judged(text, [row(count=pair[0], size=pair[1])]).failed_rows == 1
    ]
    assert sorted(found) == sorted(fails)


@pytest.mark.parametrize("relation", ["<", "<=", ">", ">=", "=", "<>"])
def test_nan_stands_in_no_relation_and_null_still_passes(relation: str) -> None:
    rows = [
        row(delay=NAN, ratio=1.0),
        row(delay=1.0, ratio=NAN),
        row(delay=NAN, ratio=NAN),
        row(delay=None, ratio=NAN),
        row(delay=NAN, ratio=None),
    ]
    found = judged(f"compare(delay {relation} ratio)", rows)
    assert found.failed_rows == 3


def test_unique_counts_every_row_of_a_group() -> None:
    rows = [row(key=key) for key in ["a", "a", "a", "b", "c", "c", None, None]]
    found = judged("unique(key)", rows)
    assert (found.failed_rows, found.scope_rows) == (5, 8)
    assert found.outcome is Outcome.FAIL


def test_unique_sees_the_table_unless_the_scope_is_the_batch() -> None:
    before = [row(key="a"), row(key="z")]
    rows = [row(key="a"), row(key="b")]
    in_table = judged("unique(key)", rows, before)
    assert (in_table.failed_rows, in_table.scope_rows) == (2, 4)
    assert in_table.message == "2 of 4 rows of the table (50 %), none allowed"
    in_batch = judged("unique(key) scope batch", rows, before)
    assert (in_batch.failed_rows, in_batch.scope_rows) == (0, 2)
    assert in_batch.outcome is Outcome.PASS


def test_unique_keys_of_several_columns() -> None:
    rows = [row(key="a", count=1), row(key="a", count=2), row(key="a", count=None)]
    assert judged("unique(key, count)", rows).outcome is Outcome.PASS
    assert judged("unique(key, count)", [*rows, row(key="a", count=2)]).failed_rows == 2


def test_where_chooses_the_rows_and_what_per_cent_means() -> None:
    rows = [row(name="X", count=9), *(row(name="Y", count=1) for _ in range(9)), row(count=9)]
    found = judged("range(count, max=5) where name <> 'X' fail_if > 0%", rows)
    assert (found.failed_rows, found.scope_rows) == (0, 9)
    assert found.message == "0 of 9 new rows where name <> 'X'"
    without = judged("range(count, max=5) fail_if > 20%", rows)
    assert (without.failed_rows, without.scope_rows) == (2, 11)
    assert without.outcome is Outcome.PASS


@pytest.mark.parametrize(
    "text",
    [
        "not_null(name)",
        "range(count, min=1)",
        "unique(key)",
        "regex(name, 'x') fail_if > 0%",
        "compare(dep < arr) warn_if > 1",
    ],
)
def test_no_rows_fail_nothing(text: str) -> None:
    found = judged(text, [])
    assert found.outcome is Outcome.PASS
    assert found.message in ("no new rows", "no rows of the table")


def test_a_warning_rule_warns() -> None:
    found = judged("not_null(name)", [row()], severity=Severity.WARN)
    assert found.outcome is Outcome.WARN
    assert found.message == "1 of 1 new rows (100 %), none allowed"

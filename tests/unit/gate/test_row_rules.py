"""Every rule that counts rows, at its boundaries: NULL, NaN, empty, exactly at the limit."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from lakeguard.gate.rules.compile import compile_text
from lakeguard.gate.rules.parse import GrammarError
from lakeguard_sdk.core.enums import Outcome, Severity
from lakeguard_sdk.expressions.measures import CountIf
from tests.unit.gate.cases import judged, refusal, row, schema
from tests.unit.gate.oracle import holds

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


@pytest.mark.parametrize(
    ("text", "column", "values", "fails"),
    [
        ("null(name)", "name", [None, "", "x"], ["", "x"]),
        ("eq(count, 3)", "count", [None, 3, 4], [4]),
        ("eq(active, true)", "active", [None, True, False], [False]),
        ("ne(name, 'X')", "name", [None, "X", "x"], ["X"]),
        ("gt(count, 0.5)", "count", [None, 0, 1], [0]),
        ("ge(amount, 1.001)", "amount", [Decimal("1.00"), Decimal("1.01")], [Decimal("1.00")]),
        ("lt(delay, 1)", "delay", [None, -INFINITY, 1.0], [1.0]),
        ("le(day, '2013-12-31')", "day", [date(2013, 12, 31), date(2014, 1, 1)],
         [date(2014, 1, 1)]),
        ("not_range(count, min=1, max=3)", "count", [None, 0, 1, 3, 4], [1, 3]),
        ("not_in_set(name, ['A', ''])", "name", [None, "A", "", "a"], ["A", ""]),
        ("not_regex(name, '[A-Z]{2}')", "name", [None, "AB", "ABC"], ["AB"]),
        ("like(name, 'a!%%')", "name", [None, "a%", "a%b", "ab"], ["ab"]),
        ("castable(name, 'byte')", "name", [None, "127", "128", "+1", " 1", "1.0", ""],
         ["128", " 1", "1.0", ""]),
        ("castable(name, 'decimal(3,1)')", "name", ["99.94", "99.96", "1e1"], ["99.96", "1e1"]),
        ("castable(name, 'timestamp')", "name", ["2013-12-31T10:00:00Z", "2013-12-31"],
         ["2013-12-31"]),
        ("date_format(name, 'dd/MM/yyyy')", "name",
         [None, "31/12/2013", "31/02/2013", "1/1/2013", "31/12/2013 "],
         ["31/02/2013", "1/1/2013", "31/12/2013 "]),
        ("sql_row(count * 2 <= 6)", "count", [None, 3, 4], [4]),
        ("sql_row(lower(name) in ('a', 'b'))", "name", [None, "A", "b", "c"], ["c"]),
        ("sql_row(delay / count > 1)", "delay", [None, 1.0], []),
    ],
)  # fmt: skip
def test_more_values(text: str, column: str, values: list[Any], fails: list[Any]) -> None:
    assert failing(text, column, values) == fails


@pytest.mark.parametrize("word", ["eq", "ne", "gt", "ge", "lt", "le"])
def test_nan_stands_in_no_relation_to_a_value(word: str) -> None:
    assert judged(f"{word}(delay, 1)", [row(delay=NAN), row()]).failed_rows == 1


@pytest.mark.parametrize("text", ["not_range(delay, min=0, max=1)", "not_in_set(delay, [1])"])
def test_nan_is_not_among_what_is_excluded(text: str) -> None:
    assert judged(text, [row(delay=NAN)]).failed_rows == 0


@pytest.mark.parametrize(
    ("text", "pairs", "fails"),
    [
        ("compare(delay = ratio, tolerance=0.5)", [(1.0, 1.5), (1.0, 1.75), (2.0, 1.0)], 2),
        ("compare(delay <= ratio, tolerance=0.5)", [(1.0, 9.0), (1.5, 1.0), (1.75, 1.0)], 1),
        ("compare(delay >= ratio, tolerance=0.5)", [(9.0, 1.0), (1.0, 1.5), (1.0, 1.75)], 1),
        ("compare(delay = ratio, tolerance=0.5)", [(INFINITY, INFINITY), (NAN, 1.0), (None, 1.0)],
         1),
    ],
)  # fmt: skip
def test_compare_with_a_tolerance(text: str, pairs: list[Any], fails: int) -> None:
    rows = [row(delay=one, ratio=other) for one, other in pairs]
    assert judged(text, rows).failed_rows == fails


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("compare(count < size, tolerance=1)", "needs = <= or >="),
        ("compare(count = size, tolerance=0)", "greater than 0"),
        ("compare(dep = arr, tolerance=1)", "timestamp values do not support a tolerance"),
        ("eq(raw, 'x')", "needs a column with values to compare"),
        ("gt(active, true)", "cannot be ordered: use eq or ne"),
        ("eq(count, 0.5)", "no integer equals 0.5"),
        ("gt(count, 1e12)", "the result is the same for every row"),
        ("castable(count, 'long')", "needs a string"),
        ("array_size(name, max=1)", "needs an array or a map"),
        ("array_elements(name, value = 1)", "needs an array of values"),
    ],
)
def test_rows_that_no_rule_can_judge(text: str, message: str) -> None:
    assert message in refusal(text).message


def test_what_is_asked_of_some_rows_stands_behind_where() -> None:
    rows = [row(active=True), row(active=True, arr=datetime(2013, 1, 1, tzinfo=UTC)), row()]
    found = judged("sql_row(arr is not null) where active = true", rows)
    assert (found.failed_rows, found.scope_rows) == (1, 2)


def test_a_quarantine_that_is_not_there_yet_blocks_and_says_so() -> None:
    found = judged("not_null(name) on_fail quarantine", [row()])
    assert found.outcome is Outcome.FAIL
    assert found.message == (
        "1 of 1 new rows (100 %), none allowed;"
        " on_fail quarantine blocks: the rows were not quarantined"
    )
    assert "quarantine" not in judged("not_null(key) on_fail quarantine", [row(key="k")]).message


def test_elements_of_arrays() -> None:
    arrays = schema(tags="array<string>", counts="map<string,integer>")
    (failed, _) = compile_text("array_elements(tags, length(value) < 3)", arrays).measures
    assert isinstance(failed, CountIf)
    rows: list[Any] = [["a", None], ["abc", "a"], [], None]
    assert [holds(failed.condition, {"tags": tags}) for tags in rows] == [False, True, False, None]
    (failed, _) = compile_text("array_size(counts, min=1, max=2)", arrays).measures
    assert isinstance(failed, CountIf)
    maps: list[Any] = [[], [("a", 1)], [("a", 1), ("b", 2), ("c", 3)], None]
    found = [holds(failed.condition, {"counts": entries}) for entries in maps]
    assert found == [True, False, True, None]
    with pytest.raises(GrammarError, match="unknown column tags"):
        compile_text("array_elements(tags, length(tags) < 3)", arrays)

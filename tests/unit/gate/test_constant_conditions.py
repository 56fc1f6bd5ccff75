"""Conditions that are the same for every row are refused when they are said, and not later."""

from __future__ import annotations

import pytest

from lakeguard.gate.rules.compile import compile_rule, compile_text
from tests.unit.gate.cases import SCHEMA, refusal, rule, schema

ALWAYS = "this is TRUE for every row with a value"
NEVER = "this is FALSE for every row with a value"
NESTED = schema(
    tags="array<string>", counts="map<string,integer>", n="integer", small="short", word="string"
)


@pytest.mark.parametrize(
    ("condition", "expected", "at"),
    [
        ("length(name) >= 0", ALWAYS, "length"),
        ("length(name) < 0", NEVER, "length"),
        ("length(name) > -0.5", ALWAYS, "length"),
        ("0 <= length(name)", ALWAYS, "length"),
        ("length(substr(name, 1, 3)) <= 3", ALWAYS, "length"),
        ("abs(count) >= 0", ALWAYS, "abs"),
        ("abs(delay) >= 0", ALWAYS, "abs"),
        ("abs(delay) < 0", NEVER, "abs"),
        ("abs(amount) = -1", NEVER, "abs"),
        ("abs(amount) <> -1", ALWAYS, "abs"),
        ("length(name) + 1 > 0", ALWAYS, "length"),
        ("length(name) * length(key) >= 0", ALWAYS, "length"),
        ("coalesce(abs(count), 0) >= 0", ALWAYS, "coalesce"),
        ("if(count > 1, 1, 2) < 3", ALWAYS, "if"),
        ("count - count = 0", ALWAYS, "count"),
        ("count * 0 = 0", ALWAYS, "count"),
        ("count % 5 < 5", ALWAYS, "count"),
        ("count % 1 = 0", ALWAYS, "count"),
        ("count >= -2147483648", ALWAYS, "count"),
        ("amount <= 9999999.99", ALWAYS, "amount"),
        ("month(day) <= 12", ALWAYS, "month"),
        ("month(day) between 1 and 12", ALWAYS, "month"),
        ("month(day) not between 1 and 12", ALWAYS, "month"),
        ("weekday(day) in (0, 7)", "weekday(day) is never 7", "7"),
        ("hour(dep) = 24", NEVER, "hour"),
        ("count > 5 and count < 3", NEVER, "count"),
        ("count > 5 and (active = true and count <= 4)", NEVER, "count"),
        ("count > 5 or count < 7", ALWAYS, "count"),
        ("delay >= 5 or delay < 7", ALWAYS, "delay"),
        ("name > 'b' and name < 'a'", NEVER, "name"),
        ("day > '2026-01-01' and day < '2026-01-01'", NEVER, "day"),
        ("count between 5 and 3", NEVER, "count"),
        ("count = 1 and count = 2", NEVER, "count"),
        ("active = true and length(name) >= 0", ALWAYS, "length"),
        ("active in (true, false)", ALWAYS, "active"),
        ("active not in (false, true)", ALWAYS, "active"),
        ("days_between(day, day) = 0", ALWAYS, "days_between"),
        ("coalesce(count, 0) is not null", "this is TRUE for every row", "coalesce"),
        ("coalesce(count, size, 0) is null", "this is FALSE for every row", "coalesce"),
        ("if(count > 1, 1, 2) is null", "this is FALSE for every row", "if"),
        ("count / 0 > 1", "division by zero", "/"),
        ("count % 0 = 1", "division by zero", "%"),
        ("delay / 0 > 1", "division by zero", "/"),
        ("amount % 0.00 = 1", "division by zero", "%"),
        ("concat(name, '') = name", ALWAYS, "concat"),
        ("concat('', name) <> name", NEVER, "concat"),
        ("count + 0 = count", ALWAYS, "count"),
        ("upper(upper(name)) = upper(name)", ALWAYS, "upper"),
        ("substr(name, 1) = name", ALWAYS, "substr"),
        ("coalesce(name, 'x') = name", ALWAYS, "coalesce"),
        ("nullif(name, 'x') = name", ALWAYS, "nullif"),
        ("if(count > 1, name, name) = name", ALWAYS, "if"),
        ("is_nan(delay) and delay < 0", NEVER, "is_nan"),
        ("is_nan(delay) and delay in (1, 2)", NEVER, "is_nan"),
        ("not is_nan(delay) or delay > 0", ALWAYS, "is_nan"),
        ("is_nan(count / 5)", NEVER, "is_nan"),
        ("matches(name, '[\\d\\D]*')", ALWAYS, "matches"),
        ("matches(name, '[\\d\\D]+|')", ALWAYS, "matches"),
        ("matches(name, '[^\\d\\D]')", NEVER, "matches"),
        ("name in ('a', 'b') and name = 'c'", NEVER, "name"),
        ("name in ('a', 'b') and name not in ('b', 'a')", NEVER, "name"),
        ("name <> 'a' or name <> 'b'", ALWAYS, "name"),
        ("count > 5 and count < 6", NEVER, "count"),
        ("day > '2026-01-01' and day < '2026-01-02'", NEVER, "day"),
        ("month(day) not in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)", ALWAYS, "month"),
        ("(count > 5 or count < 3) and count = 4", NEVER, "count"),
        ("active = true and active = false", NEVER, "active"),
        ("active <> true and active <> false", NEVER, "active"),
        ("dep < arr and dep > arr", NEVER, "dep"),
        ("dep < arr or arr <= dep", ALWAYS, "dep"),
        ("name is null and length(name) > 3", NEVER, "name"),
        ("name is not null or name = 'a'", ALWAYS, "name"),
    ],
)
@pytest.mark.parametrize("form", ["sql_row({})", "not_null(key) where {}"])
def test_refused_where_it_stands(form: str, condition: str, expected: str, at: str) -> None:
    text = form.format(condition)
    error = refusal(text)
    assert expected in error.message
    assert text[error.offset :].startswith(at)


@pytest.mark.parametrize(
    "condition",
    [
        "length(name) > 0",
        "length(name) between 0 and 5",
        "abs(count) > 0",
        "abs(delay) <= 0",
        "delay * 0 = 0",
        "delay - delay = 0",
        "delay = delay * 1",
        "count / 5 > 0",
        "count % 5 = 4",
        "amount % 1 = 0",
        "amount < 9999999.99",
        "count > 5 and count < 7",
        "count > 5 or count < 3",
        "count > 5 or size < 7",
        "count >= 5 and count <= 5",
        "delay > 5 or delay <= 4",
        "name >= 'a' and name <= 'a'",
        "name = '' or name <> 'x'",
        "weekday(day) in (0, 6)",
        "count > size or count <= 5",
        "coalesce(count, 0) >= 0",
        "coalesce(count, size) is null",
        "if(count > 1, size, 2) is null",
        "active in (true)",
        "days_between(dep, arr) = 0",
        "concat(name, 'x') = name",
        "is_nan(delay) and delay > 0",
        "not is_nan(delay) and delay < 0",
        "is_nan(delay)",
        "matches(name, '[\\d\\D]+')",
        "name = 'a' or name <> 'b'",
        "count > 5 and count < 7 and count <> 7",
        "delay > 5 and delay < 6",
        "dep <= arr and dep >= arr",
        "name is null or name = 'a'",
        "coalesce(name, key) is null or name = 'x'",
    ],
)
def test_what_says_something_is_taken(condition: str) -> None:
    assert compile_text(f"sql_row({condition})", SCHEMA).measures


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sql_row(size(tags) >= 0)", ALWAYS),
        ("array_elements(tags, length(value) >= 0)", ALWAYS),
        ("sql_agg(sum(n) / 0, min=1)", "division by zero"),
        ("sql_agg(sum(n / 0), min=1)", "division by zero"),
        ("sql_agg(sum(if(size(counts) >= 0, n, 0)), min=1)", ALWAYS),
        ("sql_agg(count(*), min=0)", "this is constant"),
        ("sql_agg(count(*) + 1, min=1)", "this is constant"),
        ("sql_agg(count(n), max=-1)", "this is constant"),
        ("completeness(n, min=0%)", "every share is between"),
        ("completeness(n, min=0%, max=100%)", "every share is between"),
        ("unique_ratio(n, min=0%)", "every share is between"),
        ("distinct_ratio(n, max=100%)", "every share is between"),
        ("most_common(n, max=100%)", "every share is between"),
        ("range(small, max=40000)", "this always holds"),
        ("range(small, min=-40000, max=32767)", "this always holds"),
        ("min(small, max=40000)", "this always holds"),
        ("mean(small, min=-40000, max=40000)", "this always holds"),
        ("quantile(small, q=0.5, max=99999)", "this always holds"),
        ("min(small) fail_if > 32767", "never true"),
        ("mean(small) warn_if < -99999", "never true"),
        ("deviation(n) fail_if < 0", "never true"),
        ("distinct(n, min=0)", "this always holds"),
        ("distinct(n) fail_if < 0", "never true"),
        ("distinct(n, max=100000000000)", "this always holds"),
        ("row_count(max=999999999999)", "this always holds"),
        ("row_count fail_if > 999999999999", "never true"),
        ("row_count(min=1) by n", "this always holds"),
        ("file_count(min=0)", "this always holds"),
        ("column_count(min=0)", "this always holds"),
        ("gaps(n, step=18446744073709551616)", "this always holds"),
        ("gaps(n, step=18446744073709551615)", "this always holds"),
        ("gaps(small, step=65535) by n", "this always holds"),
        ("regex(word, '[\\w\\W]*')", "this always holds"),
        ("completeness(n) fail_if > 100%", "never true"),
        ("completeness(n) fail_if < 0%", "never true"),
        ("completeness(n) fail_if <= 100%", "always true"),
        ("sql_agg(count(*)) fail_if < 0", "never true"),
        ("length(word, max=2147483647)", "this always holds"),
        ("length(word, max=99999999999)", "this always holds"),
        ("array_size(tags, max=2147483647)", "this always holds"),
        ("regex(word, '[\\d\\D]*')", "this always holds"),
        ("regex(word, '(?:[a-z]|[^a-z]){0,100}|[\\d\\D]*')", "this always holds"),
        ("not_regex(word, 'a[^\\w\\W]')", "this always holds"),
        ("range(n, min=0) where n is null", "no row that where selects"),
        ("range(n, min=0) where n > 5", "no row that where selects"),
        ("in_set(word, ['a', 'b']) where word = 'a'", "no row that where selects"),
        ("not_null(n) where n > 5", "no row that where selects"),
        ("not_null(n) where length(word) > 5 and n = 1", "no row that where selects"),
    ],
)
def test_refused_inside_of_nested_values_and_aggregates(text: str, expected: str) -> None:
    with pytest.raises(Exception, match=expected):
        compile_text(text, NESTED)


@pytest.mark.parametrize(
    "text",
    [
        "sql_agg(count(*), min=0, max=5)",
        "sql_agg(count(*), min=1)",
        "completeness(n, min=0%, max=99%)",
        "completeness(n, min=0%, band='mad')",
        "completeness(n, max=0%)",
        "distinct(n, min=0, max=5)",
        "range(n, min=-2147483647)",
        "range(n, max=2147483646)",
        "most_common(n, value=1, max=100%)",
        "range(small, max=32766)",
        "min(small, max=32766)",
        "mean(small, max=32767)",
        "row_count(min=2) by n",
        "gaps(small, step=65534)",
        "completeness(n) fail_if < 100%",
        "regex(word, '[\\d\\D]+')",
        "regex(word, '[^\\n]*')",
        "range(n, min=0) where n < 5",
        "not_null(n) where word is not null",
    ],
)
def test_bounds_that_say_something_are_taken(text: str) -> None:
    assert compile_text(text, NESTED).measures


@pytest.mark.parametrize(
    "text",
    [
        "sql_row(length(name) >= 0)",
        "sql_row(coalesce(count, 0) is not null)",
        "sql_agg(count(*), min=0)",
        "completeness(name, min=0%)",
        "sql_query(count(*) in (0)) by name",
        "range(count, max=2147483647)",
        "range(amount, min=-9999999.99, max=9999999.99)",
        "distinct(name, min=0)",
    ],
)
def test_what_is_stored_keeps_its_meaning(text: str) -> None:
    assert compile_rule(rule(text), SCHEMA).measures
    assert refusal(text).message.startswith(("this always holds", "this is "))

"""Rules whose outcome follows from the possible values of functions and aggregates are refused."""

from __future__ import annotations

import pytest

from lakeguard.gate.rules.compile import compile_text
from lakeguard.gate.rules.parse import GrammarError
from tests.unit.gate.cases import schema

SCHEMA = schema(
    s="string",
    t="string",
    n="integer",
    m="integer",
    wide="long",
    tiny="byte",
    yes="boolean",
    score="decimal(12,2)",
    x="double",
    day="date",
    at="timestamp",
)


@pytest.mark.parametrize(
    "condition",
    [
        # texts: nothing is before the empty text
        "s >= ''",
        "not s < ''",
        "length(concat(s, 'ab')) >= 2",
        "length(concat(s, t)) >= length(s)",
        "length(concat(s, t)) = length(t) + length(s)",
        "length(lower(s)) = length(s)",
        "length(trim(substr(s, 2))) <= length(s)",
        "length(substr(s, 1, 5)) <= 5",
        "length(substr(coalesce(t, s), 3, 9)) < 10",
        "length(if(n > 0, 'a', 'bc')) between 1 and 2",
        # numbers that go in steps
        "n % 2 in (-1, 0, 1)",
        "n % 2 between -1 and 1",
        "abs(n) % 3 in (0, 1, 2)",
        "score % 0.05 < 0.05",
        "score % 0.02 in (-0.01, 0, 0.01)",
        "2 * n <> 1",
        "2 * n <> 4 * m + 1",
        "score * 100 <> n + 0.5",
        "n + 1 > 4 or n < 5",
        "3 - n > 1 or n > 1",
        "n % n = 0",
        # what is NULL, chosen or left out
        "nullif(n, n) is null",
        "nullif(n, n + 0) is null",
        "nullif(n, 5) <> 5",
        "nullif(n, 5) + 1 <> 6",
        "nullif(s, '') > ''",
        "coalesce(nullif(n, 5), 6) <> 5",
        "if(n > 0, n, 0) >= 0",
        "if(n > 0, n, 0 - n) >= 0",
        "if(n is null, 0, n) is not null",
        "if(n > m, n - m, m - n) >= 0",
        "if(s = 'a', s, 'b') in ('a', 'b')",
        "length(if(s = '', 'empty', s)) > 0 or length(s) = 0",
        # doubles of exact numbers
        "n / 2 <= 2e9",
        "n / n = 1",
        "double(n) < 3e9",
        "is_finite(n / 4)",
        "not is_nan(double(n) * 2)",
        "abs(x) * 2 >= 0",
        "abs(x) + abs(x) >= 0",
        # parts of times
        "year(day) < 10000000",
        "month(day) + 12 * hour(at) <= 288",
        "round(score, 1) <= 10000000000",
    ],
)
def test_a_condition_that_is_always_true(condition: str) -> None:
    with pytest.raises(GrammarError, match=r"this is (TRUE|FALSE) for every row"):
        compile_text(f"sql_row({condition})", SCHEMA)


@pytest.mark.parametrize(
    "condition",
    [
        "s > ''",
        "length(concat(s, t)) > length(s)",
        "length(substr(s, 1, 5)) < 5",
        "length(s) <= length(trim(s))",
        "n % 2 in (0, 1)",
        "n % 2 in (-1, 0)",
        "score % 0.02 in (0, 0.01)",
        "2 * n <> 4",
        "2 * score <> 1",
        "n + 1 > 6 or n < 5",
        "nullif(n, m) is null",
        "nullif(n, nullif(n, 5)) is null",
        "nullif(n, 5) <> 6",
        "nullif(n, nullif(m, 5)) <> m",
        "coalesce(nullif(n, 5), 5) <> 5",
        "if(n > 0, n, m) >= 0",
        "if(n > 0, m, 0) >= 0",
        "if(n > 0, 0, n) >= 0",
        "if(n < 0, 0, n) is not null",
        "if(x > 0, x, 0) < 1e300",
        "n / 2 <= 1e9",
        "x / x = 1",
        "x - x = 0",
        "is_finite(x / 4)",
        "not is_nan(x * 0)",
        "abs(x) - abs(x) >= 0",
        "round(score, 1) < 10000000000",
        # a build or a Parquet file may hold a day of the year 10000
        "year(day) between 1 and 9999",
        "year(at) <= 9999",
    ],
)
def test_a_condition_that_some_row_fails(condition: str) -> None:
    assert compile_text(f"sql_row({condition})", SCHEMA).measures


@pytest.mark.parametrize(
    "text",
    [
        "sql_agg(count(*) % 2, max=1)",
        "sql_agg(count(*) % 2, min=0)",
        "sql_agg(sum(n) % 10, min=-9, max=9)",
        "sql_agg(count(*) - count(distinct s), min=0)",
        "sql_agg(count(*) / count(n), min=1)",
        "sql_agg((count(*) + 1) / 2, min=0.5)",
        "sql_agg(avg(n), max=2147483647)",
        "sql_query(count(*) / count(*) = 1) by s",
        "sql_query(count(*) * 2 > count(*)) by s",
        "sql_query(2 * count(*) <> 3) by s",
        "sql_query(sum(n) * 2 = 7) by s",
        "sql_query(count(*) % 2 in (0, 1)) by s",
        "sql_query(count(*) % 2 not in (1, 0)) by s",
        "sql_query(count(n) / count(*) <= 1) by s",
        "mean(n, max=2147483647)",
        "mean(n, min=-2147483648)",
        "mean(score, min=-1e10, max=1e10)",
        "mean(n, max=2147483647) by s",
        "quantile(tiny, q=0.5, max=127)",
        "deviation(tiny, max=182)",
        "distinct(tiny, max=256)",
        "distinct(yes, max=2)",
        "regex(s, '[\\d\\D]{0,1000}[\\d\\D]*')",
        "regex(s, '[\\d\\D]{0,999}|[\\d\\D]{1000,}')",
        "range(n, min=0) where n = n + 1",
        "range(n, min=0) where nullif(n, n) is not null",
        "range(n, min=0) where if(n > 0, n, 1) = n",
        "psi(n, max=18.43)",
        "psi(n, max=0.2) where n is null",
        "set_drift(s, new=0) where s is null",
        "null_drift(s, max=5%) where s is null",
        "null_drift(s, max=5%) where length(s) > 0",
        "completeness(s, max=90%) where s is null",
        "mean(n, max=100) where n is null",
        "sql_agg(count(n), max=0) where n is null",
        "not_future(at) where at is null",
        "set_drift(s, new=1000)",
        "set_drift(s, new=10, gone=10, most=10)",
        "set_drift(yes, new=2)",
        "set_drift(tiny, gone=256)",
    ],
)
def test_a_rule_that_no_data_fails(text: str) -> None:
    with pytest.raises(GrammarError, match=r"this (always holds|is )"):
        compile_text(text, SCHEMA)


@pytest.mark.parametrize(
    "text",
    [
        "sql_agg(count(*) % 2, max=0)",
        "sql_agg(sum(n) % 10, min=0)",
        "sql_agg(sum(score) % 10, max=9)",
        "sql_agg(count(n) / count(m), max=1)",
        "sql_agg(avg(n), max=2147483646)",
        "sql_query(sum(score) * 2 = 7) by s",
        "sql_query(count(*) % 3 in (0, 1)) by s",
        "sql_query(count(n) / count(*) < 1) by s",
        "sql_query(sum(n) / count(*) <= 1) by s",
        "mean(score, max=9999999999.98)",
        "mean(x, max=1e300)",
        "deviation(tiny, max=180)",
        "distinct(tiny, max=255)",
        "psi(n, max=18)",
        "psi(n, max=0.2) where n > 3",
        "null_drift(s, max=5%) where t is null",
        "sql_agg(count(*) - count(n), max=5) where n is null",
        "not_future(at) where day is null",
        "set_drift(s, new=999)",
        "set_drift(s, new=10, gone=9, most=10)",
        "set_drift(yes, new=1)",
        "distinct(s, max=256)",
        "regex(s, '[\\d\\D]{0,1000}')",
        "regex(s, '[\\d\\D]{0,99}|[\\d\\D]{101,}')",
        "range(n, min=0) where if(n > 0, n, 1) = m",
    ],
)
def test_a_rule_that_some_data_fails(text: str) -> None:
    assert compile_text(text, SCHEMA).measures


def test_deeply_nested_branches_take_no_time() -> None:
    value = "n"
    for _ in range(12):
        value = f"if({value} > 0, {value[:200] if len(value) < 200 else 'n'}, m)"
    assert compile_text(f"sql_row({value} > 3)", SCHEMA).measures

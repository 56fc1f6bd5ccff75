"""Texts that someone might try: refused when they are saved, with a reason, and quickly."""

from __future__ import annotations

import pytest

from tests.unit.gate.cases import refusal

HOSTILE = {
    "function": "not_null(key) where reflect('java.lang.Runtime', 'exec') = 'x'",
    "subquery": "not_null(key) where name in (select key from silver.users)",
    "second statement": "not_null(key); drop table silver.flights",
    "comment": "not_null(key) -- and more",
    "block comment": "not_null(key) /* and more */",
    "template": "not_null({{ var('column') }})",
    "lambda": "not_null(key) where exists(name, x -> x > 1)",
    "arithmetic": "range(count, min=1+1)",
    "cast": "not_null(key) where name::int = 1",
    "union": "not_null(key) where name = 'x' union select 1",
    "parameter": "not_null(key) where name = $1",
    "tautology": "not_null(key) where 1 = 1",
    "tautology of texts": "not_null(key) where 'a' = 'a'",
    "tautology of a column": "not_null(key) where key = key",
    "opposites": "not_null(key) where count > 1 or not count > 1",
    "never": "not_null(key) where count > 99999999999",
    "quote break": "in_set(name, ['x'' or ''1''=''1'], severity='WARN')",
    "reflection": "sql_row(java_method('java.lang.System', 'exit', 0) = count)",
    "sleep": "sql_row(sleep(5) is null or count > 1)",
    "file": "sql_row(length(read_text('/etc/passwd')) > count)",
    "tautology beside a test": "sql_row(count > 0 or 1 = 1)",
    "tautology of functions": "sql_row(abs(count) = abs(count))",
    "tautology of a length": "sql_row(length(name) >= 0)",
    "tautology of a sign": "not_null(key) where abs(count) >= 0",
    "tautology of two tests": "sql_row(count > 1 or count < 5)",
    "never, of two tests": "not_null(key) where count > 5 and count < 1",
    "remainder by nothing": "sql_row(count % 0 = 1)",
    "division by nothing": "sql_row(count / 0 > 1)",
    "subquery as a value": "sql_row(count = (select max(count) from silver.users))",
    "window": "sql_row(sum(count) over () > 1)",
    "aggregate of a row": "sql_row(sum(count) > 1)",
    "aggregate of an aggregate": "sql_agg(sum(count(*)), min=1)",
    "lambda of elements": "array_elements(name, x -> x > 1)",
    "template in an expression": "sql_row({{ column }} > 1)",
    "operator of texts": "sql_row(name || key = 'x')",
    "cast of a value": "sql_row(count::double > 1)",
    "depth of functions": "sql_row(" + "abs(" * 900 + "count" + ")" * 900 + " > 1)",
    "long chain": "sql_row(" + "count+" * 600 + "count > 1)",
    "unclosed": "in_set(name, ['x",
    "backtick break": "not_null(`key` or `name`)",
    "bomb": "regex(name, '(a+)+b')",
    "nested bomb": "regex(name, '((a*)*)*b')",
    "overlapping bomb": "regex(name, '(a|a|a|a)*b')",
    "dots bomb": "regex(name, '([^\n]*,){12}P')",
    "depth": "not_null(key) where " + "(" * 1900 + "count = 1" + ")" * 1900,
    "depth beyond the limit": "not_null(key) where " + "(" * 10_000,
    "negations": "not_null(key) where " + "not " * 900 + "count = 1",
    "brackets": "in_set(name, " + "[" * 3000,
    "long": "not_null(" + "k" * 1_000_000 + ")",
    "long number": "range(count, min=" + "9" * 3000 + ")",
    "exponent": "range(count, min=1e999999999)",
    "hidden": "not_null(ke\u200e\u202ey)",
    "null byte": "not_null(key\x00)",
    "surrogate": "not_null(key) where name = '\udcff'",
    "full width": "not_null\uff08key\uff09",
    "other digits": "range(count, min=\u0661\u0662)",
    "other letters": "nоt_null(key)",  # noqa: RUF001 - the second letter is Cyrillic
}


@pytest.mark.parametrize("name", HOSTILE)
def test_refused_with_a_reason(name: str) -> None:
    error = refusal(HOSTILE[name])
    assert error.message
    assert len(str(error)) < 300
    assert 0 <= error.offset <= len(HOSTILE[name])

"""Texts of the grammar: how they are read, how they are written, where they are refused."""

from __future__ import annotations

from decimal import Decimal

import pytest

from lakeguard.gate.grammar.literals import Number
from lakeguard.gate.grammar.rule import Threshold
from lakeguard.gate.rules.parse import GrammarError, parse_rule, rule_text
from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.expressions.conditions import Comparison


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("not_null(key)", "not_null(key)"),
        ("NOT_NULL(key)", "not_null(key)"),
        ("  Unique ( key ,name )  ", "unique(key, name)"),
        ("unique(key) scope table", "unique(key)"),
        ("unique(key) SCOPE Batch", "unique(key) scope batch"),
        ("not_null(key) on_fail block", "not_null(key)"),
        ("not_null(key) ON_FAIL Quarantine", "not_null(key) on_fail quarantine"),
        ("sql_row( a+1 <b*2 )", "sql_row(a + 1 < b * 2)"),
        ("sql_row(a > 0) where b = 1", "sql_row(a > 0) where b = 1"),
        ("array_elements(tags, VALUE > 0)", "array_elements(tags, VALUE > 0)"),
        ("compare(a = b, tolerance=0.10)", "compare(a = b, tolerance=0.1)"),
        ("eq(a, 'x')", "eq(a, value='x')"),
        ("eq(a, true)", "eq(a, value=true)"),
        ("range(amount, max=1e4, min=0)", "range(amount, min=0, max=10000)"),
        ("range(amount, min=-0.50, max=+1.)", "range(amount, min=-0.5, max=1)"),
        ("range(amount, min=.5e-2)", "range(amount, min=0.005)"),
        ("range(size, max=1e30)", "range(size, max=1e30)"),
        ("range(delay, min=0.00000000015)", "range(delay, min=1.5e-10)"),
        ("range(day, min=2013-12-31)", "range(day, min='2013-12-31')"),
        ("max(dep, max=2013-12-31T10:00:00Z)", "max(dep, max='2013-12-31T10:00:00Z')"),
        ("in_set(name, ['A','it''s'])", "in_set(name, values=['A', 'it''s'])"),
        ("regex(name, '[A-Z]+')", "regex(name, pattern='[A-Z]+')"),
        ("compare(dep<=arr)", "compare(dep <= arr)"),
        ("compare(`a b` != `c``d`)", "compare(`a b` <> `c``d`)"),
        ("not_null(`key`)", "not_null(key)"),
        ("not_null(`Where`)", "not_null(`Where`)"),
        ("row_count(min=1)", "row_count(min=1)"),
        ("row_count fail_if < 1", "row_count() fail_if < 1"),
        (
            "range(amount, min=0, max=10000) where status <> 'X' warn_if > 0 fail_if > 0.1%",
            "range(amount, min=0, max=10000) where status <> 'X' warn_if > 0 fail_if > 0.1%",
        ),
        (
            "range(amount, min=0) fail_if >0.10% warn_if > 0 where status != 'X'",
            "range(amount, min=0) where status <> 'X' warn_if > 0 fail_if > 0.1%",
        ),
    ],
)
def test_one_spelling(text: str, canonical: str) -> None:
    rule = parse_rule(text)
    assert rule_text(rule) == canonical
    assert parse_rule(canonical) == rule


@pytest.mark.parametrize(
    ("text", "column", "canonical"),
    [
        ("range(min=-120, max=2000)", "delay", "range(delay, min=-120, max=2000)"),
        ("not_null", "key", "not_null(key)"),
        ("not_null()", "a b", "not_null(`a b`)"),
        ("unique scope batch", "key", "unique(key) scope batch"),
        ("not_null(key)", "key", "not_null(key)"),
        ("compare(dep <= arr)", "arr", "compare(dep <= arr)"),
        ("in_set(['A'])", "name", "in_set(name, values=['A'])"),
    ],
)
def test_a_rule_under_a_column_leaves_it_out(text: str, column: str, canonical: str) -> None:
    assert rule_text(parse_rule(text, column=column)) == canonical


def test_the_parts_of_a_rule() -> None:
    rule = parse_rule("unique(key, name) warn_if > 0 fail_if >= 5% scope batch")
    assert rule.rule_type == "unique"
    assert rule.columns == ("key", "name")
    assert rule.warn_if == Threshold(op=Comparison.GT, number=Decimal(0))
    assert rule.fail_if == Threshold(op=Comparison.GE, number=Decimal(5), percent=True)
    assert rule.scope is Scope.BATCH
    assert parse_rule("range(a, max=5)").parameter("max") == Number(value=Decimal(5))


@pytest.mark.parametrize(
    ("text", "kind", "offset", "length", "message", "hint"),
    [
        ("uniqe(key)", "rule_type", 0, 5, "unknown rule type 'uniqe'", " did you mean unique?"),
        ("(key)", "syntax", 0, 1, "a rule type expected", ""),
        ("", "syntax", 0, 1, "a rule type expected", ""),
        ("range(a, mn=0)", "syntax", 9, 2, "range takes min and max", " did you mean min?"),
        ("range(a, min=0, min=1)", "syntax", 16, 3, "duplicate min", ""),
        ("range(a, min='x'", "syntax", 16, 1, "',' or ')' expected", ""),
        ("range(a, 0, 10)", "syntax", 9, 1, "a value needs a parameter name (min=, max=)", ""),
        ("range(min=0, a)", "syntax", 13, 1, "columns must come before values", ""),
        ("range(a, min=true)", "syntax", 13, 4, "min needs a number", ""),
        ("range(a, min=[1])", "syntax", 13, 1, "min needs a number", ""),
        ("range(a, min=b)", "syntax", 13, 1, "a value expected", ""),
        ("range(a, b, min=0)", "syntax", 9, 1, "range takes one column", ""),
        ("length(a, min=1.5)", "syntax", 14, 3, "min needs a whole number", ""),
        ("length(a, min=-1)", "syntax", 14, 2, "min needs a whole number", ""),
        ("not_null", "syntax", 0, 8, "not_null needs one column", ""),
        ("not_null(a, b)", "syntax", 12, 1, "not_null takes one column", ""),
        ("not_null(a, min=1)", "syntax", 12, 3, "not_null takes no parameter", ""),
        ("not_null(where)", "syntax", 9, 5, "write it as `where`", ""),
        ("unique(a, a)", "meaning", 10, 1, "duplicate column a", ""),
        ("compare(a, b)", "syntax", 9, 1, "one of = <> < <= > >= expected", ""),
        ("compare(a <= 5)", "syntax", 13, 1, "a column expected", ""),
        ("compare(a <= b, c)", "syntax", 16, 1, "a parameter name expected", ""),
        ("compare(a <= b, tol=1)", "syntax", 16, 3, "takes op and tolerance", ""),
        ("compare(a <= b c)", "syntax", 15, 1, "',' or ')' expected", ""),
        ("sql_row(a < b, c)", "syntax", 15, 1, "a parameter name expected", ""),
        ("sql_row()", "syntax", 8, 1, "a column expected", ""),
        ("sql_row", "syntax", 0, 7, "sql_row needs condition", ""),
        ("sql_row(a)", "syntax", 9, 1, "a comparison, is null, in, between or like", ""),
        ("eq(a)", "syntax", 0, 2, "eq needs value", ""),
        ("castable(a, type='int8')", "meaning", 17, 6, "is not a column type", ""),
        ("date_format(a, 'dd.MM.yy')", "meaning", 15, 10, "a date format consists of", ""),
        ("like(a, '%')", "meaning", 8, 3, "every text matches this pattern", ""),
        ("not_range(a, min=1)", "syntax", 0, 9, "not_range needs max", ""),
        ("array_size(a, min=0)", "meaning", 18, 1, "at least 0 elements", ""),
        ("compare(a <= a)", "meaning", 13, 1, "duplicate column a", ""),
        ("in_set(a)", "syntax", 0, 6, "in_set needs values", ""),
        ("in_set(a, [])", "syntax", 11, 1, "a value expected", ""),
        ("in_set(a, ['A', B])", "syntax", 16, 1, "write a text as 'B'", ""),
        ("in_set(a, ['A', null])", "syntax", 16, 4, "NULL is not a value", ""),
        ("in_set(a, ['A', 'B', 'A'])", "meaning", 21, 3, "duplicate value", ""),
        ("in_set(a, [1, 1.0])", "meaning", 14, 3, "duplicate value", ""),
        ("not_null(a) wher b = 1", "syntax", 12, 4, "expected", " did you mean where?"),
        ("not_null(a) fail_if > 1 fail_if > 2", "syntax", 24, 7, "duplicate fail_if", ""),
        ("not_null(a) fail_if 5", "syntax", 20, 1, "one of = <> < <= > >= expected", ""),
        ("not_null(a) fail_if > x", "syntax", 22, 1, "a number expected", ""),
        ("row_count(min=1) on_fail quarantine", "meaning", 25, 10, "no rows to quarantine", ""),
        ("not_null(a) on_fail blok", "syntax", 20, 4, "expected", " did you mean block?"),
        (
            "not_null(a) scope batch",
            "meaning",
            12,
            11,
            "always reads the batch; scope is supported by",
            "",
        ),
        ("unique(a) scope world", "syntax", 16, 5, "batch or table expected", ""),
        ("unique(a); drop table x", "syntax", 9, 1, "a rule is one expression", ""),
        ('in_set(a, ["A"])', "syntax", 11, 1, "single quotes", ""),
        ("in_set(a, ['A)", "syntax", 11, 3, "unclosed text", ""),
        ("not_null(`a)", "syntax", 9, 3, "unclosed name", ""),
        ("not_null(``)", "syntax", 9, 3, "unclosed name", ""),
        ("not_null(a.b)", "syntax", 10, 1, "in backticks", ""),
        ("range(a, min=10x)", "syntax", 13, 3, "'10x' is not a number", ""),
        ("range(a, min=1_000)", "syntax", 13, 5, "'1_000' is not a number", ""),
        ("range(a, min=2013-1-1)", "syntax", 13, 8, "'2013-1-1' is not a number", ""),
        ("range(a, min=1e999)", "syntax", 13, 5, "an exponent within 400", ""),
        ("range(a, min=1e" + "9" * 25 + ")", "syntax", 13, 27, "an exponent within 400", ""),
        ("range(a, min=" + "9" * 61 + ")", "syntax", 13, 61, "at most 60 digits", ""),
        ("not_null(a\u202e)", "syntax", 10, 1, "U+202E", ""),
        ("not_null(a\x00)", "syntax", 10, 1, "U+0000", ""),
        ("not_null(\ud800)", "syntax", 9, 1, "U+D800", ""),
        ("x" * 4001, "syntax", 4000, 1, "too long: 4,001 characters", ""),
    ],
)
def test_refusals_stand_where_the_mistake_is(
    text: str, kind: str, offset: int, length: int, message: str, hint: str
) -> None:
    with pytest.raises(GrammarError) as caught:
        parse_rule(text)
    error = caught.value
    assert (error.kind, error.offset, error.length) == (kind, offset, length)
    assert message in error.message
    assert error.hint == hint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("row_count(min=1)", "is not about a column"),
        ("not_null(name)", "this rule belongs to key"),
        ("compare(dep <= arr)", "this rule belongs to key"),
    ],
)
def test_rules_that_have_no_place_under_a_column(text: str, message: str) -> None:
    with pytest.raises(GrammarError, match=message):
        parse_rule(text, column="key")


def test_what_grows_too_long_when_written_out_is_refused() -> None:
    text = "not_null(a) where " + " or ".join(["a<b"] * 560)
    assert len(text) < 4000
    with pytest.raises(GrammarError, match="too long") as caught:
        parse_rule(text)
    assert (caught.value.offset, caught.value.length) == (0, len(text))


def test_the_message_and_the_hint_make_one_sentence() -> None:
    with pytest.raises(GrammarError) as caught:
        parse_rule("uniqe(key)")
    assert str(caught.value) == "unknown rule type 'uniqe'; did you mean unique?"
    assert caught.value.word == "uniqe"

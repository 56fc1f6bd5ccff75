"""Conditions of ``where``: read, written, typed, refused."""

from __future__ import annotations

import pytest

from lakeguard.gate.rules.compile import compile_text
from lakeguard.gate.rules.parse import GrammarError, parse_rule, rule_text
from lakeguard_sdk.expressions.conditions import (
    And,
    Compare,
    Comparison,
    Condition,
    InSet,
    IsNull,
    Not,
    Or,
    Value,
)
from lakeguard_sdk.expressions.measures import CountIf
from tests.unit.gate.cases import SCHEMA, refusal


def typed(condition: str) -> Condition:
    (failed, *_) = compile_text(f"not_null(key) where {condition}", SCHEMA).measures
    assert isinstance(failed, CountIf)
    assert failed.where is not None
    return failed.where


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("a=1", "a = 1"),
        ("0 < a", "a > 0"),
        ("0 <= a", "a >= 0"),
        ("'x' <> a", "a <> 'x'"),
        ("a != b", "a <> b"),
        ("a IS NULL", "a is null"),
        ("a is NOT null", "a is not null"),
        ("a in('x','y')", "a in ('x', 'y')"),
        ("a not in (1)", "a not in (1)"),
        ("a between 1 and 2 and b = 3", "a between 1 and 2 and b = 3"),
        ("a not between 1 and 2", "a not between 1 and 2"),
        ("not a = 1", "not a = 1"),
        ("not (a = 1)", "not a = 1"),
        ("not not a = 1", "not not a = 1"),
        ("not (a = 1 or b = 2)", "not (a = 1 or b = 2)"),
        ("((a = 1))", "a = 1"),
        ("a = 1 and (b = 2 and c = 3)", "a = 1 and b = 2 and c = 3"),
        ("a = 1 or (b = 2 or c = 3)", "a = 1 or b = 2 or c = 3"),
        ("a = 1 and b = 2 or c = 3", "a = 1 and b = 2 or c = 3"),
        ("a = 1 and (b = 2 or c = 3)", "a = 1 and (b = 2 or c = 3)"),
        ("(a = 1 and b = 2) or c = 3", "a = 1 and b = 2 or c = 3"),
        ("a = TRUE", "a = true"),
        ("a = 2013-12-31", "a = '2013-12-31'"),
        ("`or` = 1", "`or` = 1"),
    ],
)
def test_one_spelling(written: str, canonical: str) -> None:
    rule = parse_rule(f"not_null(k) where {written}")
    assert rule_text(rule) == f"not_null(k) where {canonical}"
    assert parse_rule(rule_text(rule)) == rule


@pytest.mark.parametrize(
    ("condition", "op", "text"),
    [
        ("count > 0.5", Comparison.GT, "0"),
        ("count >= 0.5", Comparison.GE, "1"),
        ("count < 0.5", Comparison.LT, "1"),
        ("count <= 0.5", Comparison.LE, "0"),
        ("amount < 1.001", Comparison.LT, "1.01"),
        ("amount > -1.001", Comparison.GT, "-1.01"),
        ("delay > 0.1", Comparison.GT, "0.1"),
        ("ratio = 0.1", Comparison.EQ, "0.10000000149011612"),
        ("day >= 2013-12-31", Comparison.GE, "2013-12-31"),
        ("dep < '2013-12-31 10:00:00'", Comparison.LT, "2013-12-31T10:00:00Z"),
        ("dep < '2013-12-31T10:00:00.5+02:00'", Comparison.LT, "2013-12-31T08:00:00.500000Z"),
        ("local = '2013-12-31T10:00'", Comparison.EQ, "2013-12-31T10:00:00"),
        ("active = true", Comparison.EQ, "true"),
        ("name > ''", Comparison.GT, ""),
    ],
)
def test_literals_take_the_type_of_their_column(condition: str, op: Comparison, text: str) -> None:
    found = typed(condition)
    assert isinstance(found, Compare)
    assert isinstance(found.right, Value)
    assert (found.op, found.right.text) == (op, text)
    assert found.right.type == SCHEMA.type_of(condition.partition(" ")[0])


def test_trees_keep_their_shape() -> None:
    found = typed("not (name is null or count in (1, 2)) and size not between 1 and 5")
    assert isinstance(found, And)
    negation, outside = found.items
    assert isinstance(negation, Not)
    assert isinstance(negation.item, Or)
    null, inside = negation.item.items
    assert isinstance(null, IsNull)
    assert isinstance(inside, InSet)
    assert [value.text for value in inside.values] == ["1", "2"]
    assert isinstance(outside, Not)
    assert isinstance(outside.item, And)


@pytest.mark.parametrize(
    ("condition", "kind", "at", "message"),
    [
        ("1 = 1", "meaning", "1 = 1", "must name a column"),
        ("'a' is null", "meaning", "'a' is", "must name a column"),
        ("1 in (1)", "meaning", "1 in", "must name a column"),
        ("true", "syntax", "", "one of = <> < <= > >= expected"),
        ("'1 = 1'", "syntax", "'1 = 1'", "write the condition without quotes"),
        ("count > 1 and 'key = 2'", "syntax", "'key = 2'", "write the condition without quotes"),
        ("key = key", "meaning", "key", "compared with itself"),
        ("key is null or key is not null", "meaning", "key is null or key is not null", "negation"),
        ("count > 5 and count <= 5", "meaning", "count > 5 and count <= 5", "negation"),
        ("not name = 'x' or name = 'x'", "meaning", "not name = 'x' or name = 'x'", "negation"),
        (
            "size = 1 and (count in (1) or count not in (1))",
            "meaning",
            "count in (1) or count not in (1)",
            "negation",
        ),
        ("active", "syntax", "", "a comparison, is null, in, between or like expected"),
        ("key = null", "syntax", "null", "use `is null`"),
        ("nme = 'x'", "column", "nme", "unknown column nme"),
        ("count = siz", "column", "siz", "unknown column siz"),
        ("name = 5", "meaning", "5", "5 is not a valid string: write it in quotes, as '5'"),
        ("count = '5'", "meaning", "'5'", "'5' is not a valid integer: write a number"),
        ("count = 0.5", "meaning", "0.5", "no integer equals 0.5"),
        ("count < 3e9", "meaning", "3e9", "the same for every row"),
        ("amount in (1, 0.001)", "meaning", "0.001", "no decimal(9,2) equals 0.001"),
        ("active = 1", "meaning", "1", "true or false"),
        ("active < true", "meaning", "true", "cannot be ordered"),
        ("raw = 'x'", "meaning", "'x'", "binary"),
        ("day = '2013-02-30'", "meaning", "'2013-02-30'", "not a calendar day"),
        ("day = '31.12.2013'", "meaning", "'31.12.2013'", "write '2013-12-31'"),
        ("dep > 2013-12-31", "meaning", "2013-12-31", "needs a time of day"),
        ("local > '2013-12-31T00:00:00Z'", "meaning", "'2013-12-31T00:00:00Z'", "no zone"),
        ("name = count", "meaning", "count", "cannot be compared"),
        ("delay = size", "meaning", "size", "cannot be compared"),
        ("dep = local", "meaning", "local", "cannot be compared"),
        ("name like 5", "syntax", "5", "like needs a text in quotes"),
        ("count like 'x'", "meaning", "count", "like needs a string, and this is integer"),
        ("name like 'a!b'", "meaning", "'a!b'", "write a ! as !!"),
        ("name like '%%'", "meaning", "'%%'", "every text matches this pattern"),
        ("name in (select key from t)", "syntax", "select", "a value expected"),
        ("(name = 'x'", "syntax", "", "')' expected"),
        ("name = 'x' or", "syntax", "", "a column expected"),
        ("name not = 'x'", "syntax", "=", "in, between or like expected"),
        ("count in (1, 2, 1)", "meaning", "1", "duplicate"),
    ],
)
def test_refusals_stand_where_the_mistake_is(
    condition: str, kind: str, at: str, message: str
) -> None:
    text = f"not_null(key) where {condition}"
    error = refusal(text)
    assert error.kind == kind
    assert message in error.message
    assert text[error.offset : error.offset + error.length] == at


def test_nesting_is_bounded_not_the_stack() -> None:
    deep = "not_null(k) where " + "(" * 20 + "a = 1" + ")" * 20
    assert rule_text(parse_rule(deep)) == "not_null(k) where a = 1"
    for opening, closing in (("(", ")"), ("not ", "")):
        text = "not_null(k) where " + opening * 800 + "a = 1" + closing * 800
        with pytest.raises(GrammarError, match="nested too deeply") as caught:
            parse_rule(text)
        assert caught.value.offset == 18 + 20 * len(opening)

"""Values in conditions: how they are read, written and typed, and where they are refused."""

from __future__ import annotations

import pytest

from lakeguard.gate.grammar.functions import FUNCTIONS
from lakeguard.gate.rules.compile import compile_rule, compile_text, default_rule_id
from lakeguard.gate.rules.parse import GrammarError, parse_rule, rule_text
from lakeguard_sdk.expressions.conditions import (
    Compare,
    FieldRef,
    Not,
    Value,
    type_of,
)
from lakeguard_sdk.expressions.measures import CountIf
from tests.unit.gate.cases import rule as defined
from tests.unit.gate.cases import schema

SCHEMA = schema(
    key="string",
    name="string",
    amount="decimal(9,2)",
    total="decimal(38,18)",
    delay="double",
    ratio="float",
    count="integer",
    size="long",
    day="date",
    dep="timestamp",
    arr="timestamp",
    local="timestamp_ntz",
    active="boolean",
    raw="binary",
    tags="array<string>",
    counts="map<string,integer>",
    address="struct<city:string,geo:struct<lat:double>>",
)


def compared(condition: str) -> Compare:
    measure = compile_text(f"sql_row({condition})", SCHEMA).measures[0]
    assert isinstance(measure, CountIf)
    assert isinstance(measure.condition, Not)
    assert isinstance(measure.condition.item, Compare)
    return measure.condition.item


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("count-1>0", "count - 1 > 0"),
        ("count +1 > 0", "count + 1 > 0"),
        ("count - -1 > 0", "count - -1 > 0"),
        ("((count)) + (size) > 0", "count + size > 0"),
        ("(count + size) * 2 > 0", "(count + size) * 2 > 0"),
        ("(count * size) + 2 > 0", "count * size + 2 > 0"),
        ("count - (size - 1) > 0", "count - (size - 1) > 0"),
        ("(count - size) - 1 > 0", "count - size - 1 > 0"),
        ("count / (size * 2) > 0", "count / (size * 2) > 0"),
        ("count -1 * size > 0", "count - 1 * size > 0"),
        ("0 < count * 2", "count * 2 > 0"),
        ("LOWER(name) = 'x'", "lower(name) = 'x'"),
        ("if( active=true,count,0 )>1", "if(active = true, count, 0) > 1"),
        ("name LIKE 'a%'", "name like 'a%'"),
        ("not starts_with(name,'x')", "not starts_with(name, 'x')"),
        ("address.city='x'", "address.city = 'x'"),
        ("address . geo.lat > 1", "address.geo.lat > 1"),
        ("count between size and size + 1", "count between size and size + 1"),
        ("length(name) in (1,2)", "length(name) in (1, 2)"),
        ("coalesce(name, 'it''s') = 'a'", "coalesce(name, 'it''s') = 'a'"),
    ],
)
def test_one_spelling(written: str, canonical: str) -> None:
    rule = parse_rule(f"sql_row({written})")
    assert rule_text(rule) == f"sql_row({canonical})"
    assert parse_rule(rule_text(rule)) == rule
    compile_text(rule_text(rule), SCHEMA)


@pytest.mark.parametrize(
    ("value", "data_type"),
    [
        ("count + size", "decimal(20,0)"),
        ("count * size", "decimal(30,0)"),
        ("size * size", "decimal(38,0)"),
        ("size * size * size", "decimal(38,0)"),
        ("size % 7", "decimal(19,0)"),
        ("amount + 0.125", "decimal(11,3)"),
        ("amount * amount", "decimal(19,4)"),
        ("total + total", "decimal(38,18)"),
        ("total * amount", "decimal(38,20)"),
        ("amount * 2", "decimal(11,2)"),
        ("count / size", "double"),
        ("amount * delay", "double"),
        ("ratio + 1", "double"),
        ("abs(count)", "decimal(10,0)"),
        ("abs(ratio)", "double"),
        ("abs(total)", "decimal(34,18)"),
        ("round(amount, 1)", "decimal(9,1)"),
        ("coalesce(count, size)", "long"),
        ("coalesce(ratio, 0)", "double"),
        ("if(active = true, amount, count)", "decimal(12,2)"),
        ("if(active = true, 1, 0.5)", "decimal(2,1)"),
        ("length(name)", "integer"),
        ("size(tags)", "integer"),
        ("size(counts)", "integer"),
        ("days_between(dep, day)", "integer"),
        ("address.geo.lat", "double"),
    ],
)
def test_every_value_has_a_type(value: str, data_type: str) -> None:
    found = compared(f"{value} > 0.5")
    assert type_of(found.left) == data_type
    assert isinstance(found.right, Value)
    assert found.right.type == data_type


def test_a_field_carries_its_path() -> None:
    found = compared("address.geo.lat > 0").left
    assert found == FieldRef(name="address", path=("geo", "lat"), type="double")


@pytest.mark.parametrize(
    ("condition", "at", "message"),
    [
        ("-count > 5", "-", "write 0 - x for -x"),
        ("1 + 2 > count", "1 + 2", "write its value instead"),
        ("length('x') = count", "length('x')", "write its value instead"),
        ("count = 1 + ", ")", "a column expected"),
        ("(count = 1) + 1 > 2", "(count = 1)", "a value expected"),
        ("length((name = 'x')) > 2", "(name = 'x')", "a value expected"),
        ("if(active, 1, 2) = 1", ",", "expected after a value"),
        ("lenght(name) > 2", "lenght", "unknown function 'lenght'"),
        ("sleep(5) > count", "sleep", "unknown function"),
        ("length(name, 2) > 2", ",", "length takes 1 value, as in length(name)"),
        ("substr(name) = 'x'", ")", "substr takes 2 to 3 values"),
        ("name + 1 > 2", "+", "+ is for numbers, and this is string"),
        ("length(count) > 2", "count", "length needs a string, and this is integer"),
        ("hour(day) > 2", "day", "hour needs a timestamp, and this is date"),
        ("size(name) > 2", "name", "size needs an array or a map"),
        ("is_nan(count)", "count", "is_nan needs a float or double"),
        ("round(delay, 2) = delay", "delay", "round needs an integer or a decimal"),
        ("round(amount, 2) = amount", "2", "no more than 2 decimal places"),
        ("round(amount, count) = amount", "count", "round needs a whole number here"),
        ("substr(name, 0) = 'x'", "0", "positions in a text start at 1"),
        ("starts_with(name, key)", "key", "starts_with needs a text in quotes here"),
        ("starts_with(name, '')", "''", "the empty text"),
        ("matches(name, '(?i)x')", "'(?i)x'", "write both cases"),
        ("castable(name, 'intger')", "'intger'", "is not a column type"),
        ("castable(name, 'float')", "'float'", "texts cannot be cast to float"),
        ("date_format(name, 'dd/MM')", "'dd/MM'", "yyyy, MM and dd"),
        ("coalesce(amount, name) > 1", "coalesce", "have no common type"),
        ("coalesce(tags, tags) is null", "coalesce", "have no common type"),
        ("coalesce(name, 0) = 'x'", "0", "write it in quotes, as '0'"),
        ("total * total > 1", "*", "round first"),
        ("amount > delay", "delay", "cannot be compared"),
        ("address.cty = 'x'", "address.cty", "has no field cty"),
        ("name.x = 'x'", "name.x", "name is string and has no field x"),
        ("address = 'x'", "'x'", "nested"),
        ("abs(count) = abs(count)", "abs(count)", "compared with itself"),
        ("count % 2 = 5e20", "5e20", "the same for every row"),
        ("count like 'x'", "count", "like needs a string"),
    ],
)  # fmt: skip
def test_refusals_stand_where_the_mistake_is(condition: str, at: str, message: str) -> None:
    text = f"sql_row({condition})"
    with pytest.raises(GrammarError) as caught:
        compile_text(text, SCHEMA)
    error = caught.value
    assert message in error.message
    assert text[error.offset : error.offset + error.length] == at


def test_the_nearest_function_is_named() -> None:
    with pytest.raises(GrammarError) as caught:
        parse_rule("sql_row(lenght(name) > 2)")
    assert caught.value.hint == " did you mean length?"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_example_is_a_value_or_a_condition(name: str) -> None:
    spec = FUNCTIONS[name]
    text = spec.example if spec.predicate else f"{spec.example} is null"
    assert rule_text(parse_rule(f"sql_row({text})")) == f"sql_row({text})"
    assert compile_rule(defined(f"sql_row({text})"), SCHEMA).measures


def test_depth_and_length_are_bounded_not_the_stack() -> None:
    deep = "abs(" * 20 + "count" + ")" * 20
    parse_rule(f"sql_row({deep} > 1)")
    for text in (f"abs({deep}) > 1", "(" * 21 + "count" + ")" * 21 + " > 1"):
        with pytest.raises(GrammarError, match="nested too deeply"):
            parse_rule(f"sql_row({text})")
    long = " + ".join(["count"] * 61)
    compile_text(f"sql_row({long} > 1)", SCHEMA)
    with pytest.raises(GrammarError, match="at most 60 operators and functions"):
        parse_rule(f"sql_row({long} + count > 1)")


def test_words_of_the_language_are_still_names_of_columns() -> None:
    names = schema(like="string", length="integer", value="integer", **{"if": "integer"})
    for text in ("like like 'x'", "length > 1", "length + value > 1", "if = 2", "value = 1"):
        rule = parse_rule(f"sql_row({text})")
        assert rule_text(rule) == f"sql_row({text})"
        compile_text(f"sql_row({text})", names)


def test_the_id_names_the_columns_of_the_condition() -> None:
    rule = parse_rule("sql_row(amount * 2 <= total and amount > 0)")
    assert default_rule_id(rule) == "sql_row.amount.total"

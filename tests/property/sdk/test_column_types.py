"""Any column type has one spelling, which says all of it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from deltalake import Schema
from hypothesis import given, settings
from hypothesis import strategies as st

from lakeguard_sdk.types.schema import (
    Column,
    TableSchema,
    field_names,
    leaf_types,
    normal_type,
    widens,
)
from lakeguard_sdk.types.type_parser import parse_type
from lakeguard_sdk.types.type_tree import (
    ArrayOf,
    ColumnType,
    MapOf,
    NotAType,
    StructOf,
    from_delta,
    parts_of,
    type_text,
)
from tests.support.strategies.column_types import column_types

_WIDER = {
    "byte": "short", "short": "integer", "integer": "long", "float": "double",
    "decimal(1,0)": "decimal(3,1)", "decimal(9,2)": "decimal(38,2)",
}  # fmt: skip


@given(column_types)
def test_a_type_is_read_back_from_its_spelling(found: ColumnType) -> None:
    text = type_text(found)
    assert parse_type(text) == found
    assert normal_type(text) == text


@given(column_types, st.sampled_from([" ", "  ", "\n", "\t"]))
def test_blanks_between_words_say_nothing(found: ColumnType, blank: str) -> None:
    """A quoted name is one word, whatever is in it."""
    words = re.split(r"(`(?:[^`]|``)+`|decimal\([^)]*\)|[<>,:])", type_text(found))
    assert parse_type(blank.join(word for word in words if word)) == found


@settings(deadline=None)
@given(column_types)
def test_delta_reads_the_same_type_back(found: ColumnType) -> None:
    schema = TableSchema(columns=(Column(name="it", type=type_text(found)),))
    assert TableSchema.from_delta_json(schema.delta_json()) == schema
    assert TableSchema.from_delta_json(Schema.from_json(schema.delta_json()).to_json()) == schema
    assert from_delta(json.loads(schema.delta_json())["fields"][0]["type"]) == found


@given(column_types)
def test_every_name_and_leaf_is_told(found: ColumnType) -> None:
    text = type_text(found)

    def count(part: ColumnType) -> int:
        return 1 if isinstance(part, str) else sum(map(count, parts_of(part)))

    def named(part: ColumnType) -> set[str]:
        own = {name for name, _ in part.fields} if isinstance(part, StructOf) else set()
        return own.union(*map(named, parts_of(part)))

    assert len(leaf_types(text)) == count(found)
    assert set(field_names(text)) == named(found)


def _changed(found: ColumnType, change: Any) -> ColumnType:
    """The same type with every leaf, and the order of fields, as ``change`` makes it."""
    match found:
        case StructOf(fields=fields):
            parts = tuple((name, _changed(part, change)) for name, part in fields)
            return StructOf(parts[::-1])
        case ArrayOf(element=element):
            return ArrayOf(_changed(element, change))
        case MapOf(key=key, value=value):
            return MapOf(_changed(key, change), _changed(value, change))
        case str():
            return str(change(found))


@given(column_types)
def test_a_type_widens_part_by_part_and_fields_by_name(found: ColumnType) -> None:
    wider = type_text(_changed(found, lambda leaf: _WIDER.get(leaf, leaf)))
    assert widens(type_text(found), wider)
    grows = any(leaf in _WIDER for leaf in leaf_types(type_text(found)))
    assert widens(wider, type_text(found)) is not grows


@given(column_types, column_types)
def test_what_is_made_otherwise_does_not_widen(one: ColumnType, other: ColumnType) -> None:
    wrapped = [StructOf((("x", one),)), ArrayOf(one), one]
    for left in wrapped:
        for right in (StructOf((("y", one),)), StructOf((("x", one), ("y", other)))):
            assert not widens(type_text(left), type_text(right))


@given(st.text(alphabet="structaymp<>`,: i\n", max_size=40))
def test_any_other_text_is_refused_and_nothing_else_happens(text: str) -> None:
    try:
        found = normal_type(text)
    except NotAType:
        return
    assert normal_type(found) == found


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("struct<a: int, b: array<string>>", "struct<a:integer,b:array<string>>"),
        ("STRUCT<A INT>", "struct<A:integer>"),
        ("map < string , decimal( 9 , 2 ) >", "map<string,decimal(9,2)>"),
        ("struct<`a b`:int,`c``d`:date>", "struct<`a b`:integer,`c``d`:date>"),
        ("struct<`plain`:int>", "struct<plain:integer>"),
        ("struct<a.b:int>", "struct<`a.b`:integer>"),
        ("array<" * 15 + "int" + ">" * 15, "array<" * 15 + "integer" + ">" * 15),
        ("array<map<int,struct<x:array<real>>>>", "array<map<integer,struct<x:array<float>>>>"),
    ],
)
def test_one_spelling(text: str, normal: str) -> None:
    assert normal_type(text) == normal


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("struct<>", "expected a field name, found '>'"),
        ("struct<a>", "unknown type '>'"),
        ("struct<a:int", "unexpected end"),
        ("struct<a:int>>", "unexpected text after the type"),
        ("array<int,int>", "expected '>', found ','"),
        ("map<int>", "expected ',', found '>'"),
        ("map<map<int,int>,int>", "a map key cannot contain a map"),
        ("map<struct<x:array<map<int,int>>>,int>", "a map key cannot contain a map"),
        ("struct<a:int,a:int>", "duplicate field 'a' in a struct"),
        ("struct<a:int,A:int>", "fields 'a' and 'A' differ in case only"),
        ("struct<`a:int>", "unclosed backtick"),
        ("struct<``:int>", "unclosed backtick"),
        ("array<varchar(10)>", "unknown type 'varchar(10)'"),
        ("struct<a: int not null>", "expected '>', found 'not'"),
        ("array<" * 16 + "int" + ">" * 16, "more than 16 levels deep"),
        ("array<" * 100_000, "more than 16 levels deep"),
    ],
)
def test_a_refusal_says_what_is_wrong(text: str, problem: str) -> None:
    with pytest.raises(NotAType, match="is not a column type") as refused:
        normal_type(text)
    assert problem in refused.value.problem

"""Types compared part by part, and the one way in which they widen."""

from __future__ import annotations

import itertools

import pytest

from lakeguard.gate.schema.types import (
    grown_type,
    grows_into,
    plain_change,
    type_changes,
    type_widens,
)
from lakeguard_sdk.model.schema_changes import SchemaChange

TYPES = (
    "byte", "short", "integer", "long", "float", "double", "decimal(5,2)", "decimal(9,2)",
    "decimal(9,4)", "string", "boolean", "date", "timestamp", "timestamp_ntz", "binary",
)  # fmt: skip

WIDENS = {
    ("byte", "short"), ("byte", "integer"), ("byte", "long"), ("short", "integer"),
    ("short", "long"), ("integer", "long"), ("float", "double"), ("date", "timestamp_ntz"),
    ("decimal(5,2)", "decimal(9,2)"), ("decimal(5,2)", "decimal(9,4)"),
}  # fmt: skip


def test_types_widen_along_the_arrows_and_no_others() -> None:
    found = {pair for pair in itertools.product(TYPES, repeat=2) if type_widens(*pair)}
    assert found == WIDENS


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        *((old, new, SchemaChange.WIDEN) for old, new in sorted(WIDENS)),
        *((new, old, SchemaChange.NARROW) for old, new in sorted(WIDENS)),
        ("double", "integer", SchemaChange.NARROW),
        ("integer", "double", SchemaChange.INCOMPATIBLE_TYPE),
        ("double", "long", SchemaChange.INCOMPATIBLE_TYPE),
        ("decimal(12,2)", "integer", SchemaChange.NARROW),
        ("decimal(11,2)", "integer", SchemaChange.INCOMPATIBLE_TYPE),
        ("integer", "decimal(12,2)", SchemaChange.INCOMPATIBLE_TYPE),
        ("decimal(9,2)", "decimal(9,4)", SchemaChange.DECIMAL_SIZE),
        ("decimal(9,4)", "decimal(10,2)", SchemaChange.DECIMAL_SIZE),
        ("timestamp", "timestamp_ntz", SchemaChange.TIMEZONE),
        ("timestamp_ntz", "timestamp", SchemaChange.TIMEZONE),
        ("date", "timestamp", SchemaChange.INCOMPATIBLE_TYPE),
        ("long", "string", SchemaChange.INCOMPATIBLE_TYPE),
        ("string", "string", None),
    ],
)
def test_what_became_of_a_plain_type(old: str, new: str, change: SchemaChange | None) -> None:
    assert plain_change(old, new) is change


OLD = "struct<a:integer,b:struct<c:string>,d:array<float>,e:map<string,date>>"


@pytest.mark.parametrize(
    ("new", "changes"),
    [
        (OLD, set()),
        ("struct<e:map<string,date>,d:array<float>,b:struct<c:string>,a:integer>", set()),
        (OLD.replace("a:integer", "a:long"), {("x.a", "NESTED_WIDEN")}),
        (OLD.replace("a:integer", "a:short"), {("x.a", "NESTED_NARROW")}),
        (OLD.replace("a:integer", "a:string"), {("x.a", "NESTED_TYPE")}),
        (OLD.replace("a:integer,", ""), {("x.a", "NESTED_DROP")}),
        (OLD.replace("a:integer", "A:integer"), {("x.a", "NESTED_CASE_RENAME")}),
        (
            OLD.replace("a:integer", "A:long"),
            {("x.a", "NESTED_CASE_RENAME"), ("x.a", "NESTED_WIDEN")},
        ),
        (OLD.replace("c:string", "c:string,z:long"), {("x.b.z", "NESTED_ADD")}),
        (OLD.replace("float", "double"), {("x.d[]", "NESTED_WIDEN")}),
        (OLD.replace("float", "struct<f:float>"), {("x.d[]", "NESTED_TYPE")}),
        (OLD.replace("<string,date>", "<long,date>"), {("x.e.key", "NESTED_TYPE")}),
        (OLD.replace(",date>", ",timestamp_ntz>"), {("x.e.value", "NESTED_WIDEN")}),
        ("array<integer>", {("x", "INCOMPATIBLE_TYPE")}),
        ("string", {("x", "INCOMPATIBLE_TYPE")}),
    ],
)
def test_nested_types_are_compared_part_by_part(new: str, changes: set[tuple[str, str]]) -> None:
    assert {(item.path, item.change) for item in type_changes("x", OLD, new)} == changes


def everything(_: SchemaChange) -> bool:
    return True


def nothing(_: SchemaChange) -> bool:
    return False


@pytest.mark.parametrize(
    ("old", "new", "grown"),
    [
        ("integer", "long", "long"),
        ("long", "integer", "long"),
        ("long", "string", "long"),
        ("struct<a:integer>", "struct<b:string,a:long>", "struct<a:long,b:string>"),
        ("struct<a:long,b:string>", "struct<a:integer>", "struct<a:long,b:string>"),
        ("struct<a:integer>", "struct<A:long>", "struct<a:long>"),
        ("array<struct<a:float>>", "array<struct<a:double>>", "array<struct<a:double>>"),
        ("map<integer,float>", "map<long,double>", "map<long,double>"),
        ("array<long>", "string", "array<long>"),
    ],
)
def test_a_type_grows_by_what_is_taken_over(old: str, new: str, grown: str) -> None:
    assert grown_type(old, new, everything) == grown
    assert grown_type(old, new, nothing) == old
    assert grows_into(old, grown)


def test_only_the_changes_that_are_taken_over_count() -> None:
    old, new = "struct<a:integer>", "struct<a:long,b:string>"
    takes = {SchemaChange.NESTED_ADD}.__contains__
    assert grown_type(old, new, takes) == "struct<a:integer,b:string>"
    assert grown_type("integer", "long", takes) == "integer"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("long", "integer"),
        ("integer", "double"),
        ("struct<a:long,b:long>", "struct<a:long>"),
        ("struct<a:long,b:long>", "struct<b:long,a:long>"),
        ("array<long>", "array<string>"),
    ],
)
def test_what_files_cannot_be_read_as(old: str, new: str) -> None:
    assert not grows_into(old, new)

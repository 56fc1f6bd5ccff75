"""A small table, rules over it, and the rows that each of them counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lakeguard.gate.rules.compile import compile_text
from lakeguard.gate.typecheck.checks import GroupCheck, RowCheck
from lakeguard_sdk.expressions.measures import AnyMeasure
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.measure import Subject
from tests.property.measure.staging import OTHER, staged_beside

SCHEMA = TableSchema(
    columns=tuple(
        Column(name=name, type=kind)
        for name, kind in {
            "id": "long", "name": "string", "price": "double", "cost": "decimal(9,2)",
            "day": "date", "at": "timestamp", "until": "timestamp", "raw": "binary",
            "good": "boolean", "place": "struct<city:string,geo:struct<lat:double>>",
            "tags": "array<string>",
        }.items()
    )
)  # fmt: skip
HOUR = 3_600_000_000
NAN = float("nan")


def row(number: int | None, **given: Any) -> dict[str, Any]:
    """What is not given is NULL; days and times are numbers since 1970."""
    return {**dict.fromkeys(SCHEMA.names), "id": number, **given}


BATCH = [
    row(1, name="a", price=1.5, at=0, until=2 * HOUR, good=True),
    row(2, name="b", price=-2.0, cost=-3, day=1, at=HOUR, until=3 * HOUR, good=False),
    row(3, name=None, price=NAN, at=5 * HOUR, until=6 * HOUR),
    row(3, name="x" * 300, price=0.0, day=3, raw=b"\x01\xff", tags=["p", "q"]),
    row(None, name="b", price=9.0, place={"city": "Ulm", "geo": {"lat": 99.0}}),
    row(9, name="say 'hi'\n\0", price=4.0, at=HOUR, day=2),
]
BEFORE = [row(1, name="old", price=-7.0), row(7, name="a", price=8.0)]
OTHERS = [row(1, name="a"), row(2, name="b")]

LONG = "x" * 99 + "…"
RULES: dict[str, tuple[tuple[str, ...], list[tuple[str | None, ...]]]] = {
    "not_null(name)": (("id", "name"), [("3", None)]),
    "range(price, min=0)": (("id", "price"), [("2", "-2"), ("3", "NaN")]),
    "range(price, max=5) where id > 1": (("id", "price"), [("3", "NaN")]),
    "ge(cost, value=0)": (("id", "cost"), [("2", "-3.00")]),
    "null(day) where good is null": (
        ("id", "day", "good"), [("3", "1970-01-04", None), ("9", "1970-01-03", None)]),
    "eq(good, value=true)": (("id", "good"), [("2", "false")]),
    "length(name, max=20)": (("id", "name"), [("3", LONG)]),
    "null(raw)": (("id", "raw"), [("3", "01FF")]),
    "sql_row(place.geo.lat <= 90)": (("id", "place.geo.lat"), [(None, "99")]),
    "array_size(tags, max=1)": (("id", "tags"), [("3", "[p, q]")]),
    "sql_row(name <> 'b' and price < 4)": (
        ("id", "name", "price"),
        [("2", "b", "-2"), ("3", None, "NaN"), (None, "b", "9"), ("9", "say 'hi'\n\0", "4")]),
    "unique(id)": (("id",), [("1",), ("1",), ("3",), ("3",)]),
    "unique(id) scope batch": (("id",), [("3",), ("3",)]),
    "unique(name) where price > 0": (("id", "name", "price"), [("1", "a", "1.5"), ("7", "a", "8")]),
    f"foreign_key(name -> {OTHER}(name)) scope batch": (
        ("id", "name"), [("3", LONG), ("9", "say 'hi'\n\0")]),
    f"not_in_reference(id -> {OTHER}(id))": (("id",), [("1",), ("1",), ("2",)]),
    "gaps(id, step=1)": (("id",), [("7",), ("9",)]),
    "increasing(price, at) scope batch": (("id", "price", "at"), [
        ("2", "-2", "1970-01-01T01:00:00.000000Z"),
    ]),
    "no_overlap(at, until)": (("id", "at", "until"), [
        ("2", "1970-01-01T01:00:00.000000Z", "1970-01-01T03:00:00.000000Z"),
        ("9", "1970-01-01T01:00:00.000000Z", None),
        ("3", "1970-01-01T05:00:00.000000Z", "1970-01-01T06:00:00.000000Z"),
    ]),
    "json_valid(name) where id < 3": (("id", "name"), [("1", "a"), ("2", "b")]),
    "max(price, max=5) by name": (("id", "price", "name"), [
        ("2", "-2", "b"), ("3", "NaN", None), (None, "9", "b"),
    ]),
    "row_count(max=1) by name": (("id", "name"), [("2", "b"), (None, "b")]),
    "sql_query(sum(price) > 1 and count(*) < 3) by name where id is not null": (
        ("id", "price", "name"), [("2", "-2", "b"), ("3", "0", LONG)]),
    f"dataset_equal(id, name -> {OTHER}(id, name))": (("id", "name"), [
        ("1", "old"), ("3", None), ("3", LONG), (None, "b"), ("7", "a"), ("9", "say 'hi'\n\0"),
    ]),
}  # fmt: skip
"""By rule: the columns that a sample of it has, the key first, and its rows."""


def counted_by(rule: str) -> AnyMeasure:
    """The measure that counts the rows that a rule fails by."""
    judged = compile_text(rule, SCHEMA).check
    assert isinstance(judged, RowCheck | GroupCheck)
    return judged.failed.measure


def staged_rows(folder: Path) -> Subject:
    return staged_beside(folder, BATCH, BEFORE, OTHERS, SCHEMA)

"""For every class of schema change: a column before and after it, and what each answer makes of it.

The pieces go into one table in any number, so that one run shows many of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

from lakeguard_sdk.model.schema_changes import Reaction, SchemaChange

ACCEPT, CAST, LEFT_OUT, QUARANTINE = (
    Reaction.ACCEPT,
    Reaction.ACCEPT_CAST,
    Reaction.LEFT_OUT,
    Reaction.QUARANTINE_ROW,
)
MONEY, FINE = pa.decimal128(9, 2), pa.decimal128(9, 4)
LOCAL, ZONED = pa.timestamp("us"), pa.timestamp("us", tz="UTC")
NOON = datetime.fromisoformat("2026-01-02T12:00")
NUMBER, TEXT, SMALL = pa.int64(), pa.string(), pa.int32()

Cells = Mapping[str, tuple[pa.DataType, Any]]
Row = Mapping[str, Any]
Rows = dict[int, dict[str, Any]]


@dataclass(frozen=True)
class Piece:
    """A difference between two files, or two definitions, of one dataset."""

    column: str
    """What it is told of."""
    declared: Mapping[str, str]
    before: Cells
    after: Cells
    shown: Mapping[Reaction, Row]
    """What the table then holds of the new row."""
    kept: Row = field(default_factory=dict)
    """What it then holds of the row that was there, where accepting changes that."""
    grown: Mapping[str, str] = field(default_factory=dict)
    """Types that accepting gives to the table."""
    misfit: Row = field(default_factory=dict)
    """Values that cannot be cast."""
    redeclared: Mapping[str, str] = field(default_factory=dict)
    """What the definition says afterwards."""
    never_null: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
    """Columns of which the source says so, before and after."""


def never_null(before: str = "", after: str = "") -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(before.split()), frozenset(after.split())


def same(row: Row, *answers: Reaction) -> Mapping[Reaction, Row]:
    return dict.fromkeys(answers, row)


WHO, WIDER_WHO = pa.struct([("a", SMALL)]), pa.struct([("a", SMALL), ("d", TEXT)])
PAIR, HALF = pa.struct([("e", SMALL), ("f", TEXT)]), pa.struct([("e", SMALL)])
LOUD, QUIET = pa.struct([("G", TEXT)]), pa.struct([("g", TEXT)])
ODD, ODDER = pa.struct([("x", NUMBER)]), pa.struct([("x", TEXT)])

COLUMNS: dict[SchemaChange, Piece] = {
    SchemaChange.ADD_NULLABLE: Piece(
        "extra", {}, {}, {"extra": (TEXT, "more")},
        {ACCEPT: {"extra": "more"}, LEFT_OUT: {}}, kept={"extra": None}, grown={"extra": "string"},
    ),
    SchemaChange.ADD_REQUIRED: Piece(
        "sure", {}, {}, {"sure": (NUMBER, 5)},
        {ACCEPT: {"sure": 5}, LEFT_OUT: {}}, kept={"sure": None}, grown={"sure": "long"},
        never_null=never_null(after="sure"),
    ),
    SchemaChange.DROP_NULLABLE: Piece(
        "gone", {"gone": "string"}, {"gone": (TEXT, "g")}, {}, {ACCEPT: {"gone": None}}
    ),
    SchemaChange.DROP_REQUIRED: Piece(
        "promised", {"promised": "boolean, nullable: false"}, {"promised": (pa.bool_(), True)}, {},
        {ACCEPT: {"promised": None}}, never_null=never_null("promised"),
    ),
    SchemaChange.RENAME: Piece(
        "amount", {"amount": '"decimal(9,2)"'}, {"amount": (MONEY, Decimal("1.10"))},
        {"net_amount": (MONEY, Decimal("3.30"))},
        {ACCEPT: {"amount": None, "net_amount": Decimal("3.30")}}, kept={"net_amount": None},
        grown={"net_amount": "decimal(9,2)"},
    ),
    SchemaChange.CASE_RENAME: Piece(
        "Kind", {"Kind": "string"}, {"Kind": (TEXT, "k")}, {"kind": (TEXT, "K")},
        {ACCEPT: {"Kind": "K"}},
    ),
    SchemaChange.RELAX_NULLABILITY: Piece(
        "firm", {"firm": "long, nullable: false"}, {"firm": (NUMBER, 1)}, {"firm": (NUMBER, 2)},
        {ACCEPT: {"firm": 2}}, never_null=never_null("firm"),
    ),
    SchemaChange.TIGHTEN_NULLABILITY: Piece(
        "loose", {"loose": "long"}, {"loose": (NUMBER, None)}, {"loose": (NUMBER, 2)},
        {ACCEPT: {"loose": 2}}, never_null=never_null(after="loose"),
    ),
    SchemaChange.REORDER: Piece(
        "second", {"first": "long", "second": "long"},
        {"first": (NUMBER, 1), "second": (NUMBER, 2)},
        {"second": (NUMBER, 4), "first": (NUMBER, 3)}, {ACCEPT: {"first": 3, "second": 4}},
    ),
}  # fmt: skip
"""Which columns there are."""

TYPES: dict[SchemaChange, Piece] = {
    SchemaChange.WIDEN: Piece(
        "small", {"small": "integer"}, {"small": (SMALL, 7)}, {"small": (NUMBER, 9)},
        same({"small": 9}, ACCEPT, CAST, QUARANTINE), grown={"small": "long"},
        misfit={"small": 2**40},
    ),
    SchemaChange.NARROW: Piece(
        "wide", {"wide": "long"}, {"wide": (NUMBER, 2**40)}, {"wide": (SMALL, 9)},
        {CAST: {"wide": 9}},
    ),
    SchemaChange.DECIMAL_SIZE: Piece(
        "price", {"price": '"decimal(9,2)"'}, {"price": (MONEY, Decimal("2.20"))},
        {"price": (FINE, Decimal("4.4000"))},
        same({"price": Decimal("4.40")}, CAST, QUARANTINE),
        misfit={"price": Decimal("4.4444")},
    ),
    SchemaChange.TIMEZONE: Piece(
        "at", {"at": "timestamp_ntz"}, {"at": (LOCAL, NOON)},
        {"at": (ZONED, NOON.replace(tzinfo=UTC))}, same({"at": NOON}, CAST, QUARANTINE),
    ),
    SchemaChange.INCOMPATIBLE_TYPE: Piece(
        "code", {"code": "long"}, {"code": (NUMBER, 11)}, {"code": (TEXT, "12")},
        same({"code": 12}, CAST, QUARANTINE), misfit={"code": "twelve"},
    ),
}  # fmt: skip
"""What they hold."""

NESTED: dict[SchemaChange, Piece] = {
    SchemaChange.NESTED_ADD: Piece(
        "who.d", {"who": '"struct<a:integer>"'}, {"who": (WHO, {"a": 1})},
        {"who": (WIDER_WHO, {"a": 2, "d": "dd"})},
        {ACCEPT: {"who": {"a": 2, "d": "dd"}}, LEFT_OUT: {"who": {"a": 2}}},
        kept={"who": {"a": 1, "d": None}}, grown={"who": "struct<a:integer,d:string>"},
    ),
    SchemaChange.NESTED_DROP: Piece(
        "pair.f", {"pair": '"struct<e:integer,f:string>"'}, {"pair": (PAIR, {"e": 1, "f": "f"})},
        {"pair": (HALF, {"e": 2})}, {ACCEPT: {"pair": {"e": 2, "f": None}}},
    ),
    SchemaChange.NESTED_CASE_RENAME: Piece(
        "loud.G", {"loud": '"struct<G:string>"'}, {"loud": (LOUD, {"G": "old"})},
        {"loud": (QUIET, {"g": "new"})}, {ACCEPT: {"loud": {"G": "new"}}},
    ),
    SchemaChange.NESTED_WIDEN: Piece(
        "sizes[]", {"sizes": '"array<integer>"'}, {"sizes": (pa.list_(SMALL), [1, None])},
        {"sizes": (pa.list_(NUMBER), [2])}, same({"sizes": [2]}, ACCEPT, QUARANTINE),
        grown={"sizes": "array<long>"}, misfit={"sizes": [1, 2**40]},
    ),
    SchemaChange.NESTED_NARROW: Piece(
        "marks.value", {"marks": '"map<string,long>"'},
        {"marks": (pa.map_(TEXT, NUMBER), [("x", 2**40)])},
        {"marks": (pa.map_(TEXT, SMALL), [("y", 6)])}, {CAST: {"marks": [("y", 6)]}},
    ),
    SchemaChange.NESTED_TYPE: Piece(
        "odd.x", {"odd": '"struct<x:long>"'}, {"odd": (ODD, {"x": 1})},
        {"odd": (ODDER, {"x": "2"})}, {QUARANTINE: {"odd": {"x": 2}}}, misfit={"odd": {"x": "two"}},
    ),
}  # fmt: skip
"""What lies inside of it."""

TABLES: dict[SchemaChange, Piece] = {
    SchemaChange.KEY_CHANGE: Piece(
        "id", {"id": "integer"}, {"id": (SMALL, 1)}, {"id": (NUMBER, 2)}, {}
    ),
    SchemaChange.PARTITION_CHANGE: Piece(
        "part", {"part": "integer"}, {"part": (SMALL, 1)}, {"part": (NUMBER, 1)}, {}
    ),
    SchemaChange.COMMENT: Piece(
        "noted", {"noted": "string"}, {"noted": (TEXT, "n")}, {"noted": (TEXT, "m")},
        {ACCEPT: {"noted": "m"}}, redeclared={"noted": "string, description: A note."},
    ),
    SchemaChange.TAG: Piece(
        "marked", {"marked": "string"}, {"marked": (TEXT, "n")}, {"marked": (TEXT, "m")},
        {ACCEPT: {"marked": "m"}}, redeclared={"marked": "string, tags: [secret]"},
    ),
}  # fmt: skip
"""What the table rests on, and what is said of it."""

PIECES: dict[SchemaChange, Piece] = {**TABLES, **COLUMNS, **TYPES, **NESTED}


def rows_after(answers: Mapping[SchemaChange, Reaction], taken: Collection[SchemaChange]) -> Rows:
    """The first row and the second, where the changes that were taken came with the second."""
    first: dict[str, Any] = {}
    second: dict[str, Any] = {}
    for change, piece in PIECES.items():
        before = {name: value for name, (_, value) in piece.before.items()}
        answer = answers[change] if change in taken else None
        first |= {**before, **(piece.kept if answer is ACCEPT else {})}
        second |= before if answer is None else piece.shown[answer]
    return {1: first, 2: {**second, "id": 2}}


def types_after(
    answers: Mapping[SchemaChange, Reaction], taken: Collection[SchemaChange]
) -> dict[str, str]:
    """The types of the table's columns, where these changes were taken."""
    found: dict[str, str] = {}
    for change, piece in PIECES.items():
        found |= {
            name: given.partition(", ")[0].strip('"') for name, given in piece.declared.items()
        }
        found |= piece.grown if change in taken and answers[change] is ACCEPT else {}
    return found

"""A wide table of generated rows: every type, and the values on which engines differ.

A row is a dict. NULL is None, a date is a number of days, a time a number of microseconds.
"""

from __future__ import annotations

import struct
from decimal import Decimal
from random import Random
from typing import Any

from lakeguard_sdk.types.schema import Column, TableSchema, decimal_size
from tests.property.measure.macro_texts import FORMS, MORE_TEXTS, written

Row = dict[str, Any]
DAY = 86_400_000_000
HOUR = 3_600_000_000
CLOCK = 16_070 * DAY + 10 * HOUR
"""2013-12-31T10:00:00Z: the time of the decision."""
TYPES = {
    "b": "byte",
    "h": "short",
    "i": "integer",
    "j": "integer",
    "order id": "long",
    "f": "float",
    "d": "double",
    "e": "double",
    "small": "decimal(9,2)",
    "cents": "decimal(9,2)",
    "rate": "decimal(20,8)",
    "wide": "decimal(38,18)",
    "total": "integer",
    "bill": "decimal(10,2)",
    "both": "double",
    "s": "string",
    "t": "string",
    "yes": "boolean",
    "raw": "binary",
    "day": "date",
    "till": "date",
    "at": "timestamp",
    "done": "timestamp",
    "local": "timestamp_ntz",
    "ended": "timestamp_ntz",
    "seen": "timestamp",
    "seen on": "date",
    "tags": "array<string>",
    "nums": "array<integer>",
    "counts": "map<string,integer>",
    "place": "struct<city:string,geo:struct<lat:double>>",
    "k": "string",
    "same": "string",
    "n": "integer",
    "m": "integer",
    **dict.fromkeys(FORMS, "string"),
}
SCHEMA = TableSchema(columns=tuple(Column(name=n, type=t) for n, t in TYPES.items()))
ONE_OF_EACH = tuple({kind: column for column, kind in reversed(TYPES.items())}.values())
"""A column of every type."""
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
_SUMMER = [15_774 * DAY + 7 * HOUR, 16_012 * DAY + 5 * HOUR + HOUR // 2]
"""Where New York changes its clocks, and an hour that it has twice."""
_NEAR_MIDNIGHT = [CLOCK - 10 * HOUR - 1, CLOCK - 10 * HOUR, CLOCK + 8 * HOUR + HOUR // 2, CLOCK]
_ENDS = [_FIRST_DAY * DAY, (_LAST_DAY + 1) * DAY - 1, -1, 0]
_ODD = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0]
_PLAIN = [0.1, 0.5, 1.5, -3.25, 7.0, -90.0, 90.5, 180.0, 1e15, 16777216.0]
_FINE = [5e-324, 1e-300, 1e300, -1e300, 0.3, 2.0**53 + 2]


def rows(chance: Random, count: int) -> list[Row]:
    """Few and telling values: collisions are wanted, and so are the ends of each type."""
    same, age = chance.choice([["x"], ["x", "y"]]), chance.choice([-HOUR, 1, HOUR, 3 * DAY])
    return [_row(chance, same, age) for _ in range(count)]


def _row(chance: Random, same: list[str], age: int) -> Row:
    row = {name: _value(chance, kind) for name, kind in TYPES.items()}
    row |= {name: written(chance, texts) for name, texts in FORMS.items()}
    row |= {"k": chance.choice("abc"), "same": chance.choice(same)}
    row |= {"n": chance.randrange(12), "m": chance.randrange(14)}
    row |= {"e": chance.choice([*_PLAIN, 0.0, -0.0])}
    for start, end in (("day", "till"), ("at", "done"), ("local", "ended")):
        if row[start] is not None and chance.random() < 0.6:
            row[end] = _later(chance, row[start], TYPES[end])
    if chance.random() < 0.6:
        row |= {"total": _added(row, "i", "j"), "bill": _added(row, "small", "cents")}
        row["both"] = _added(row, "d", "e")
    row["seen"] = CLOCK - age - chance.randrange(0, DAY, HOUR)
    row["seen on"] = row["seen"] // DAY
    missing = chance.choice([0.05, 0.05, 0.05, 0.6])
    return {name: None if chance.random() < missing else value for name, value in row.items()}


def _later(chance: Random, value: int, data_type: str) -> int:
    steps = [-1, 0, 1, 2, 3] if data_type == "date" else [-1, 0, 1, HOUR, DAY - 1, DAY, 2 * DAY]
    last = _LAST_DAY if data_type == "date" else (_LAST_DAY + 1) * DAY - 1
    first = _FIRST_DAY if data_type == "date" else _FIRST_DAY * DAY
    return max(first, min(last, value + chance.choice(steps)))


def _added(row: Row, one: str, other: str) -> Any:
    left, right = row[one], row[other]
    if left is None or right is None:
        return None
    total = left + right
    return max(-(2**31), min(total, 2**31 - 1)) if isinstance(total, int) else total


def _value(chance: Random, data_type: str) -> Any:
    bits = {"byte": 7, "short": 15, "integer": 31, "long": 63}.get(data_type)
    if bits:
        ends = [-(2**bits), 2**bits - 1] if chance.random() < 0.2 else []
        return chance.choice(ends or [-91, -3, -1, 0, 1, 2, 3, 7, 10, 90, 100])
    if size := decimal_size(data_type):
        return _decimal(chance, *size)
    match data_type:
        case "float":
            value = chance.choice([*_ODD, *_PLAIN])
            return struct.unpack("f", struct.pack("f", value))[0]
        case "double":
            return chance.choice([*_ODD, *_PLAIN, *_FINE])
        case "string":
            return written(chance, MORE_TEXTS)
        case "boolean":
            return chance.random() < 0.5
        case "binary":
            return chance.choice([b"", b"a", b"\x00", b"\xff\xfe"])
        case "date":
            near = [CLOCK // DAY + step for step in range(-3, 4)]
            return chance.choice([*near, _FIRST_DAY, -1, 0, 59, _LAST_DAY])
        case "timestamp" | "timestamp_ntz":
            return chance.choice([*_ENDS, *_SUMMER, *_NEAR_MIDNIGHT])
    return _nested(chance, data_type)


def _decimal(chance: Random, precision: int, scale: int) -> Decimal:
    """Exact, whatever the precision of the context."""
    ends = [0, 1, -1, 10**precision - 1, 1 - 10**precision]
    near = [chance.randrange(-300, 300) * 10 ** (scale - chance.randrange(3)) for _ in range(4)]
    units = chance.choice([*ends, *near, *near])
    if (precision, scale) == (10, 2):
        units = chance.choice(near)
    return Decimal((int(units < 0), tuple(map(int, str(abs(units)))), -scale))


def _nested(chance: Random, data_type: str) -> Any:
    few = range(chance.randrange(4))
    if data_type.startswith("array<"):
        element = data_type.removeprefix("array<").removesuffix(">")
        return [None if chance.random() < 0.2 else _value(chance, element) for _ in few]
    if data_type.startswith("map<"):
        return [(f"k{index}", chance.choice([None, 1, 2])) for index in few]
    geo = None if chance.random() < 0.2 else {"lat": _value(chance, "double")}
    return {"city": written(chance, MORE_TEXTS), "geo": geo}

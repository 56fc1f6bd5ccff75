"""Column types as trees: a plain type is a string, nested types contain types.

The syntax is Spark's. The normal form, which is hashed, uses Delta's names for plain types, no
blanks, and backticks around field names that are not plain identifiers:

    struct<id:long,tags:array<string>,`unit price`:map<string,decimal(9,2)>>

Struct fields keep their order and the exact spelling of their names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Never

from lakeguard_sdk.types.plain_types import plain_type

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


@dataclass(frozen=True)
class StructOf:
    fields: tuple[tuple[str, ColumnType], ...]


@dataclass(frozen=True)
class ArrayOf:
    element: ColumnType


@dataclass(frozen=True)
class MapOf:
    key: ColumnType
    value: ColumnType


ColumnType = str | StructOf | ArrayOf | MapOf


class NotAType(ValueError):
    """The text is not a column type; names the invalid part and the problem."""

    def __init__(self, text: str, part: str, problem: str = "") -> None:
        self.part = part
        self.problem = problem
        super().__init__(f"{text!r} is not a column type" + (f": {problem}" if problem else ""))


def parts_of(found: ColumnType) -> tuple[ColumnType, ...]:
    """The direct children of a type, in order; empty for a plain type."""
    match found:
        case StructOf(fields=fields):
            return tuple(part for _, part in fields)
        case ArrayOf(element=element):
            return (element,)
        case MapOf(key=key, value=value):
            return (key, value)
    return ()


def type_text(found: ColumnType) -> str:
    """The normal form."""
    match found:
        case StructOf(fields=fields):
            return f"struct<{','.join(f'{_name(name)}:{type_text(t)}' for name, t in fields)}>"
        case ArrayOf(element=element):
            return f"array<{type_text(element)}>"
        case MapOf(key=key, value=value):
            return f"map<{type_text(key)},{type_text(value)}>"
        case str():
            return found


def delta_type(found: ColumnType) -> Any:
    """The type in Delta's JSON. Everything is nullable: the gate enforces NOT NULL."""
    match found:
        case StructOf(fields=fields):
            return {"type": "struct", "fields": [delta_field(name, t) for name, t in fields]}
        case ArrayOf(element=element):
            return {"type": "array", "elementType": delta_type(element), "containsNull": True}
        case MapOf(key=key, value=value):
            parts = {"keyType": delta_type(key), "valueType": delta_type(value)}
            return {"type": "map", **parts, "valueContainsNull": True}
        case str():
            return found


def delta_field(name: str, found: ColumnType) -> dict[str, Any]:
    return {"name": name, "type": delta_type(found), "nullable": True, "metadata": {}}


def from_delta(kind: Any) -> ColumnType:
    """Parses a type from Delta's JSON; raises ``NotAType`` if it is unsupported."""
    match kind:
        case str():
            return plain_type(kind) or _refuse(kind)
        case {"type": "struct", "fields": list(fields)}:
            return StructOf(tuple((str(f["name"]), from_delta(f["type"])) for f in fields))
        case {"type": "array", "elementType": element}:
            return ArrayOf(from_delta(element))
        case {"type": "map", "keyType": key, "valueType": value}:
            return MapOf(from_delta(key), from_delta(value))
    return _refuse(str(kind)[:80])


def _refuse(text: str) -> Never:
    raise NotAType(text, text)


def _name(name: str) -> str:
    return name if _WORD.match(name) else "`" + name.replace("`", "``") + "`"

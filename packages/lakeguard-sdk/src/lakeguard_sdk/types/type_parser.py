"""Parser for column types such as ``struct<id:long,tags:array<string>>``."""

from __future__ import annotations

import re
from functools import lru_cache

from lakeguard_sdk.types.plain_types import PLAIN_WORDS, plain_type
from lakeguard_sdk.types.type_tree import (
    ArrayOf,
    ColumnType,
    MapOf,
    NotAType,
    StructOf,
    parts_of,
    type_text,
)

DEEPEST = 16
"""Maximum nesting: DuckDB's time doubles with each nested array, and a column 21 levels deep takes
half a second."""

TYPE_WORDS = (*PLAIN_WORDS, "array<type>", "map<type,type>", "struct<name:type>")
MEANT = {
    "bigdecimal": "decimal(38,18)",
    "datetime": "timestamp",
    "datetime2": "timestamp",
    "enum": "string",
    "geometry": "string",
    "interval": "string",
    "money": "decimal(19,4)",
    "number": "decimal(38,18)",
    "numeric": "decimal(38,18)",
    "text": "string",
    "time": "string",
    "timestamptz": "timestamp",
    "varchar": "string",
    "year": "integer",
}
"""Types of other systems, and what they are called here."""
_TOKEN = re.compile(
    r"\s*(`(?:[^`]|``)+`|[<>,:]|decimal\s*\([^()<>`]*\)|[^\s<>,:`]+)\s*", re.IGNORECASE
)
_MARKS = "<>,:"


def normal_type(text: str) -> str:
    """The normal form of a type; raises ``NotAType``, a ValueError, if it is not one."""
    return plain_type(text) or type_text(parse_type(text))


@lru_cache(maxsize=4096)
def parse_type(text: str) -> ColumnType:
    """The type as a tree; raises ``NotAType`` if it is not one."""
    return plain_type(text) or _Parser(text).whole()


class _Parser:
    """Recursive descent; every error names the invalid part."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0

    def whole(self) -> ColumnType:
        if "<" not in self._text:
            raise NotAType(self._text, self._text)
        found = self._type(1)
        if self._place < len(self._text):
            raise self._error(self._text[self._place :], "unexpected text after the type")
        return found

    def _type(self, depth: int) -> ColumnType:
        if depth > DEEPEST:
            raise self._error("", f"nested more than {DEEPEST} levels deep")
        word = self._take()
        kind = word.lower()
        if kind not in ("array", "map", "struct"):
            found = plain_type(word)
            if found is None:
                raise self._error(word, f"unknown type {word!r}")
            return found
        self._mark("<")
        made: ColumnType
        if kind == "array":
            made = ArrayOf(self._type(depth + 1))
        elif kind == "map":
            made = self._map(depth + 1)
        else:
            made = self._struct(depth + 1)
        self._mark(">")
        return made

    def _map(self, depth: int) -> MapOf:
        key = self._type(depth)
        if _holds_map(key):
            raise self._error("map", "a map key cannot contain a map")
        self._mark(",")
        return MapOf(key, self._type(depth))

    def _struct(self, depth: int) -> StructOf:
        fields: list[tuple[str, ColumnType]] = []
        seen: dict[str, str] = {}
        while not fields or self._peek() == ",":
            if fields:
                self._mark(",")
            name = self._field_name()
            twin = seen.setdefault(name.casefold(), name)
            if len(seen) == len(fields):
                raise self._error(
                    name,
                    f"duplicate field {name!r} in a struct"
                    if twin == name
                    else f"fields {twin!r} and {name!r} differ in case only",
                )
            if self._peek() == ":":
                self._mark(":")
            fields.append((name, self._type(depth)))
        return StructOf(tuple(fields))

    def _field_name(self) -> str:
        token = self._take()
        if token in _MARKS:
            raise self._error(token, f"expected a field name, found {token!r}")
        return token[1:-1].replace("``", "`") if token.startswith("`") else token

    def _mark(self, mark: str) -> None:
        found = self._take()
        if found != mark:
            raise self._error(found, f"expected {mark!r}, found {found!r}")

    def _peek(self) -> str:
        match = _TOKEN.match(self._text, self._place)
        return match[1] if match else ""

    def _take(self) -> str:
        match = _TOKEN.match(self._text, self._place)
        if match is None:
            rest = self._text[self._place :]
            raise self._error(rest, "unclosed backtick" if rest else "unexpected end")
        self._place = match.end()
        return match[1]

    def _error(self, part: str, problem: str) -> NotAType:
        return NotAType(self._text, part, problem)


def _holds_map(found: ColumnType) -> bool:
    return isinstance(found, MapOf) or any(_holds_map(part) for part in parts_of(found))

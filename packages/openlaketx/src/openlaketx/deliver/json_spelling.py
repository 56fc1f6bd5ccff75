"""Columns made of others, spelled as JSON: one way, for every format that is text."""

from __future__ import annotations

from collections.abc import Callable

from lakeguard_sdk.type_parser import parse_type
from lakeguard_sdk.type_tree import ArrayOf, ColumnType, MapOf, StructOf
from openlaketx.measure.condition_sql import quoted

Leaf = Callable[[str, str], str]
"""How a value of a plain type is spelled, from its expression and its type."""


def json_text(name: str, data_type: str, leaf: Leaf) -> str:
    """A JSON value of DuckDB. Fields keep their names and order; a map is an object whose keys
    are texts; NULL is null, and NULL as a whole stays NULL."""
    return _json(name, parse_type(data_type), leaf, 0)


def _json(value: str, kind: ColumnType, leaf: Leaf, depth: int) -> str:
    item = f"item{depth}"
    match kind:
        case StructOf(fields=fields):
            parts = ", ".join(
                f"{_literal(name)}, {_json(f'{value}.{quoted(name)}', part, leaf, depth)}"
                for name, part in fields
            )
            return f"CASE WHEN {value} IS NULL THEN NULL ELSE json_object({parts}) END"
        case ArrayOf(element=element):
            inner = _json(item, element, leaf, depth + 1)
            return f"to_json(list_transform({value}, lambda {item}: {inner}))"
        case MapOf(key=key, value=held):
            word = _key(f"{item}.key", key, leaf, depth + 1)
            inner = _json(f"{item}.value", held, leaf, depth + 1)
            entry = f"struct_pack(k := {word}, v := {inner})"
            entries = f"list_transform(map_entries({value}), lambda {item}: {entry})"
            return f"to_json(map_from_entries({entries}))"
        case str():
            return f"to_json({leaf(value, kind)})"


def _key(value: str, kind: ColumnType, leaf: Leaf, depth: int) -> str:
    """The text of a key: as the value would be spelled, without quotes where it is a text."""
    if isinstance(kind, str):
        return f"json_extract_string(to_json({leaf(value, kind)}), '$')"
    return f"CAST({_json(value, kind, leaf, depth)} AS VARCHAR)"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"

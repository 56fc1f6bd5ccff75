"""How each type is written in each format, as documented in docs/reference/targets.md."""

from __future__ import annotations

from collections.abc import Callable

from lakeguard_sdk.core.enums import TargetFormat
from lakeguard_sdk.types.schema import (
    FLOATS,
    Column,
    decimal_size,
    is_nested,
)
from lakeguard_sdk.types.type_parser import parse_type
from lakeguard_sdk.types.type_tree import (
    ArrayOf,
    ColumnType,
    MapOf,
    StructOf,
)
from openlaketx.measure.sql.condition_sql import quoted, sql_type

_QUOTES = """QUOTE '"', ESCAPE '"', NULLSTR ''"""
COPY_OPTIONS = {
    TargetFormat.PARQUET: "FORMAT parquet, COMPRESSION snappy",
    TargetFormat.CSV: f"FORMAT csv, HEADER true, DELIMITER ',', {_QUOTES}",
    TargetFormat.JSONL: "FORMAT json, ARRAY false",
}


def spelled(column: Column, form: TargetFormat) -> str:
    """The column as a DuckDB expression, under its own name."""
    name = quoted(column.name)
    if form is TargetFormat.PARQUET:
        return name
    if form is TargetFormat.POSTGRESQL:
        return f"{_literal(name, column.type)} AS {name}"
    return f"{_text(name, column.type, form)} AS {name}"


def empty(column: Column) -> str:
    """A typed column of an empty relation."""
    kind = "FLOAT" if column.type == "float" else sql_type(column.type)
    return f"CAST(NULL AS {kind}) AS {quoted(column.name)}"


def _literal(name: str, data_type: str) -> str:
    """Text that PostgreSQL parses to the same value, for any year."""
    if is_nested(data_type):
        return f"CAST({_json_text(name, data_type, _json_leaf)} AS VARCHAR)"
    if data_type == "string":
        return name
    if data_type == "binary":
        return f"'\\x' || hex({name})"
    if data_type in FLOATS:
        return _float(name, TargetFormat.POSTGRESQL)
    return f"CAST({name} AS VARCHAR)"


def _json_leaf(name: str, data_type: str) -> str:
    return _text(name, data_type, TargetFormat.JSONL)


def _text(name: str, data_type: str, form: TargetFormat) -> str:
    if is_nested(data_type):
        return _json_text(name, data_type, _json_leaf)
    if data_type == "timestamp":
        return f"strftime({name}, '%Y-%m-%dT%H:%M:%S.%fZ')"
    if data_type == "timestamp_ntz":
        return f"strftime({name}, '%Y-%m-%dT%H:%M:%S.%f')"
    if data_type == "binary":
        return f"base64({name})"
    if data_type in FLOATS:
        return _float(name, form)
    if decimal_size(data_type) and form is TargetFormat.JSONL:
        return f"CAST({name} AS VARCHAR)"
    return name


def _float(name: str, form: TargetFormat) -> str:
    """The shortest digits with the same value; infinities and NaN as words."""
    word = (
        f"CASE WHEN isnan({name}) THEN 'NaN' WHEN {name} > 0 THEN 'Infinity' ELSE '-Infinity' END"
    )
    digits = f"CAST({name} AS VARCHAR)"
    if form is TargetFormat.JSONL:
        word, digits = f"to_json({word})", f"CAST({digits} AS JSON)"
    return f"CASE WHEN {name} IS NULL THEN NULL WHEN isfinite({name}) THEN {digits} ELSE {word} END"


# Nested columns as JSON, in every text format.

Leaf = Callable[[str, str], str]
"""Renders a plain value, given its expression and its type."""


def _json_text(name: str, data_type: str, leaf: Leaf) -> str:
    """A DuckDB JSON value. Fields keep their names and order; a map is an object with text keys;
    NULL inside is null, a NULL column stays NULL."""
    return _json(name, parse_type(data_type), leaf, 0)


def _json(value: str, kind: ColumnType, leaf: Leaf, depth: int) -> str:
    item = f"item{depth}"
    match kind:
        case StructOf(fields=fields):
            parts = ", ".join(
                f"{_json_literal(name)}, {_json(f'{value}.{quoted(name)}', part, leaf, depth)}"
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
    """The text of a key: as the value would be written, without quotes for texts."""
    if isinstance(kind, str):
        return f"json_extract_string(to_json({leaf(value, kind)}), '$')"
    return f"CAST({_json(value, kind, leaf, depth)} AS VARCHAR)"


def _json_literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"

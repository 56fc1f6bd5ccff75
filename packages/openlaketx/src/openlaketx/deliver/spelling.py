"""How each type is spelled in each format: one way, written down in docs/targets.md."""

from __future__ import annotations

from lakeguard_sdk.schema import FLOATS, Column, decimal_size, is_nested
from lakeguard_sdk.words import TargetFormat
from openlaketx.deliver.json_spelling import json_text
from openlaketx.measure.condition_sql import quoted, sql_type

_QUOTES = """QUOTE '"', ESCAPE '"', NULLSTR ''"""
COPY_OPTIONS = {
    TargetFormat.PARQUET: "FORMAT parquet, COMPRESSION snappy",
    TargetFormat.CSV: f"FORMAT csv, HEADER true, DELIMITER ',', {_QUOTES}",
    TargetFormat.JSONL: "FORMAT json, ARRAY false",
}


def spelled(column: Column, form: TargetFormat) -> str:
    """The column as an expression of DuckDB, under its own name."""
    name = quoted(column.name)
    if form is TargetFormat.PARQUET:
        return name
    if form is TargetFormat.POSTGRESQL:
        return f"{_literal(name, column.type)} AS {name}"
    return f"{_text(name, column.type, form)} AS {name}"


def empty(column: Column) -> str:
    """A column of no rows, under its name and in its type."""
    kind = "FLOAT" if column.type == "float" else sql_type(column.type)
    return f"CAST(NULL AS {kind}) AS {quoted(column.name)}"


def _literal(name: str, data_type: str) -> str:
    """Text that PostgreSQL takes for the same value, whatever the year."""
    if is_nested(data_type):
        return f"CAST({json_text(name, data_type, _json_leaf)} AS VARCHAR)"
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
        return json_text(name, data_type, _json_leaf)
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
    """The shortest digits that mean the same value; what no number can say is a word."""
    word = (
        f"CASE WHEN isnan({name}) THEN 'NaN' WHEN {name} > 0 THEN 'Infinity' ELSE '-Infinity' END"
    )
    digits = f"CAST({name} AS VARCHAR)"
    if form is TargetFormat.JSONL:
        word, digits = f"to_json({word})", f"CAST({digits} AS JSON)"
    return f"CASE WHEN {name} IS NULL THEN NULL WHEN isfinite({name}) THEN {digits} ELSE {word} END"

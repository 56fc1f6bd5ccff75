"""Parquet's physical and logical types as column types, exactly or not at all."""

from __future__ import annotations

import json
from typing import Any

import pyarrow.parquet as pq

from lakeguard_sdk.schema import Column, TableSchema, decimal_size

_PLAIN = {
    ("BOOLEAN", "NONE"): "boolean",
    ("INT32", "NONE"): "integer",
    ("INT64", "NONE"): "long",
    ("FLOAT", "NONE"): "float",
    ("DOUBLE", "NONE"): "double",
    ("BYTE_ARRAY", "NONE"): "binary",
    ("FIXED_LEN_BYTE_ARRAY", "NONE"): "binary",
    ("BYTE_ARRAY", "STRING"): "string",
    ("BYTE_ARRAY", "ENUM"): "string",
    ("BYTE_ARRAY", "JSON"): "string",
    ("INT32", "DATE"): "date",
    ("INT96", "NONE"): "timestamp",
}
_SIGNED = {8: "byte", 16: "short", 32: "integer", 64: "long"}
_UNSIGNED = {8: "short", 16: "integer", 32: "long", 64: "decimal(20,0)"}


class UnsupportedColumn(ValueError):
    """A column that no column type describes; says which and why."""


def table_schema(metadata: pq.FileMetaData) -> TableSchema:
    """The columns of a file as Spark reads them; ``UnsupportedColumn`` for any other kind."""
    schema = metadata.schema
    return TableSchema(
        columns=tuple(
            Column(name=column.path, type=column_type(column))
            for column in (schema.column(index) for index in range(len(schema)))
        )
    )


def column_type(column: Any) -> str:
    """The type of one Parquet column."""
    if column.max_repetition_level or column.max_definition_level > 1 or column.path != column.name:
        raise UnsupportedColumn(f"column {column.path.split('.')[0]} is nested")
    logical = json.loads(column.logical_type.to_json())
    kind = logical["Type"].upper()
    found = _PLAIN.get((column.physical_type, kind)) or _logical(kind, logical)
    if found is None:
        raise UnsupportedColumn(
            f"column {column.name} is {column.physical_type} {column.logical_type}"
        )
    return found


def _logical(kind: str, logical: dict[str, Any]) -> str | None:
    if kind == "INT":
        return (_SIGNED if logical["isSigned"] else _UNSIGNED).get(int(logical["bitWidth"]))
    if kind == "DECIMAL":
        return f"decimal({logical['precision']},{logical['scale']})"
    if kind == "TIMESTAMP" and logical["timeUnit"] in ("microseconds", "milliseconds"):
        return "timestamp" if logical["isAdjustedToUTC"] else "timestamp_ntz"
    return None


def physical_type(data_type: str) -> str:
    """What a staged file must hold for a column of this type: one spelling, Spark's own."""
    if size := decimal_size(data_type):
        return "INT32" if size[0] <= 9 else "INT64" if size[0] <= 18 else "FIXED_LEN_BYTE_ARRAY"
    return {
        "string": "BYTE_ARRAY", "binary": "BYTE_ARRAY", "boolean": "BOOLEAN",
        "byte": "INT32", "short": "INT32", "integer": "INT32", "date": "INT32",
        "long": "INT64", "timestamp": "INT64", "timestamp_ntz": "INT64",
        "float": "FLOAT", "double": "DOUBLE",
    }[data_type]  # fmt: skip

"""Maps Parquet's physical and logical types to column types, exactly or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lakeguard_sdk.types.schema import (
    Column,
    TableSchema,
    decimal_size,
    normal_type,
)
from lakeguard_sdk.types.type_tree import (
    ArrayOf,
    ColumnType,
    MapOf,
    StructOf,
    type_text,
)

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
    """A column without a column type; names the column and its Parquet type."""


def table_schema(metadata: pq.FileMetaData) -> TableSchema:
    """The columns of a file as Spark reads them; ``UnsupportedColumn`` for other types."""
    schema = metadata.schema
    leaves = [schema.column(index) for index in range(len(schema))]
    if not any(map(_is_nested, leaves)):
        return TableSchema(columns=tuple(Column(name=c.path, type=leaf_type(c)) for c in leaves))
    rest, columns = iter(leaves), []
    for field in _structure(metadata):
        try:
            data_type = normal_type(type_text(_tree(field.type, rest)))
            columns.append(Column(name=field.name, type=data_type))
        except ValueError as error:
            raise UnsupportedColumn(f"column {field.name}: {_line(error)}") from None
    return TableSchema(columns=tuple(columns))


def leaf_type(column: Any) -> str:
    """Type of one Parquet leaf column, which may be part of a nested one."""
    logical = json.loads(column.logical_type.to_json())
    kind = logical["Type"].upper()
    found = _PLAIN.get((column.physical_type, kind)) or _logical(kind, logical)
    if found is None:
        raise UnsupportedColumn(
            f"column {column.path} is {column.physical_type} {column.logical_type}"
        )
    return found


def _is_nested(column: Any) -> bool:
    return bool(
        column.max_repetition_level or column.max_definition_level > 1 or column.path != column.name
    )


def _structure(metadata: pq.FileMetaData) -> Iterable[pa.Field]:
    """Nesting of the columns, from Arrow, which may read a leaf as another type."""
    try:
        fields: Iterable[pa.Field] = metadata.schema.to_arrow_schema()
    except pa.ArrowException as error:
        raise UnsupportedColumn(_line(error)) from None
    return fields


def _tree(found: pa.DataType, leaves: Iterator[Any]) -> ColumnType:
    """A file stores leaves in depth-first order."""
    if isinstance(found, pa.BaseExtensionType):
        found = found.storage_type
    kinds = pa.types
    if kinds.is_struct(found):
        return StructOf(tuple((part.name, _tree(part.type, leaves)) for part in found))
    if kinds.is_map(found):
        key = _tree(found.key_type, leaves)
        return MapOf(key, _tree(found.item_type, leaves))
    if kinds.is_list(found) or kinds.is_large_list(found) or kinds.is_fixed_size_list(found):
        return ArrayOf(_tree(found.value_type, leaves))
    if kinds.is_nested(found):
        raise UnsupportedColumn(f"unsupported type {found}")
    return leaf_type(next(leaves))


def _logical(kind: str, logical: dict[str, Any]) -> str | None:
    if kind == "INT":
        return (_SIGNED if logical["isSigned"] else _UNSIGNED).get(int(logical["bitWidth"]))
    if kind == "DECIMAL":
        return f"decimal({logical['precision']},{logical['scale']})"
    if kind == "TIMESTAMP" and logical["timeUnit"] in ("microseconds", "milliseconds"):
        return "timestamp" if logical["isAdjustedToUTC"] else "timestamp_ntz"
    return None


def physical_type(data_type: str) -> str:
    """The physical type required in a staged file: the one that Spark writes."""
    if size := decimal_size(data_type):
        return "INT32" if size[0] <= 9 else "INT64" if size[0] <= 18 else "FIXED_LEN_BYTE_ARRAY"
    return {
        "string": "BYTE_ARRAY", "binary": "BYTE_ARRAY", "boolean": "BOOLEAN",
        "byte": "INT32", "short": "INT32", "integer": "INT32", "date": "INT32",
        "long": "INT64", "timestamp": "INT64", "timestamp_ntz": "INT64",
        "float": "FLOAT", "double": "DOUBLE",
    }[data_type]  # fmt: skip


def _line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)

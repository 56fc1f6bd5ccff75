"""Column types as Arrow has them, for columns that none of the merged files has."""

from __future__ import annotations

import pyarrow as pa

from lakeguard_sdk.schema import decimal_size
from lakeguard_sdk.type_parser import parse_type
from lakeguard_sdk.type_tree import ArrayOf, ColumnType, MapOf, StructOf

_PLAIN = {
    "string": pa.string(),
    "binary": pa.binary(),
    "boolean": pa.bool_(),
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}


def arrow_type(declared: str) -> pa.DataType:
    """What a file must hold for a declared type."""
    return _arrow(parse_type(declared))


def _arrow(data_type: ColumnType) -> pa.DataType:
    match data_type:
        case StructOf(fields=fields):
            return pa.struct([pa.field(name, _arrow(part)) for name, part in fields])
        case ArrayOf(element=element):
            return pa.list_(pa.field("element", _arrow(element)))
        case MapOf(key=key, value=value):
            return pa.map_(_arrow(key), _arrow(value))
        case str():
            size = decimal_size(data_type)
            return pa.decimal128(*size) if size else _PLAIN[data_type]

"""DuckDB's spelling."""

from __future__ import annotations

from lakeguard_sdk.schema import is_nested
from lakeguard_sdk.type_parser import parse_type
from lakeguard_sdk.type_tree import ArrayOf, ColumnType, MapOf, StructOf
from openlaketx.measure.comparison_types import HUGE
from openlaketx.measure.dialect import Dialect

_TYPES = {
    "string": "VARCHAR",
    "boolean": "BOOLEAN",
    "byte": "TINYINT",
    "short": "SMALLINT",
    "integer": "INTEGER",
    "long": "BIGINT",
    HUGE: "HUGEINT",
    "float": "DOUBLE",
    "double": "DOUBLE",
    "date": "DATE",
    "timestamp": "TIMESTAMPTZ",
    "timestamp_ntz": "TIMESTAMP",
    "binary": "BLOB",
}


class DuckdbDialect(Dialect):
    """Over a connection in UTC."""

    def quoted(self, name: str) -> str:
        return quoted(name)

    def parameter(self, name: str) -> str:
        return f"${name}"

    def type_name(self, data_type: str) -> str:
        return sql_type(data_type)

    def is_nan(self, value: str) -> str:
        return f"isnan({value})"

    def matches(self, text: str, pattern: str) -> str:
        return f"regexp_matches({text}, {pattern})"


DUCKDB = DuckdbDialect()


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def sql_type(data_type: str) -> str:
    """The type as DuckDB declares it, nested or not."""
    if is_nested(data_type):
        return _nested_sql(parse_type(data_type))
    return _TYPES.get(data_type) or data_type.upper()


def _nested_sql(found: ColumnType) -> str:
    match found:
        case StructOf(fields=fields):
            parts = ", ".join(f"{quoted(name)} {_nested_sql(part)}" for name, part in fields)
            return f"STRUCT({parts})"
        case ArrayOf(element=element):
            return f"{_nested_sql(element)}[]"
        case MapOf(key=key, value=value):
            return f"MAP({_nested_sql(key)}, {_nested_sql(value)})"
        case str():
            return "FLOAT" if found == "float" else sql_type(found)

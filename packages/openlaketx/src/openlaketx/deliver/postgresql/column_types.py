"""The PostgreSQL type of each column type: every value has its exact like there."""

from __future__ import annotations

from lakeguard_sdk.schema import Column, decimal_size

LONGEST_NAME = 63
"""Bytes: PostgreSQL cuts longer names off without a word."""

_TYPES = {
    "string": "text",
    "boolean": "boolean",
    "byte": "smallint",
    "short": "smallint",
    "integer": "integer",
    "long": "bigint",
    "float": "real",
    "double": "double precision",
    "date": "date",
    "timestamp": "timestamp with time zone",
    "timestamp_ntz": "timestamp without time zone",
    "binary": "bytea",
}


def column_type(column: Column) -> str:
    """As PostgreSQL itself spells it; a column made of others is one of JSON."""
    size = decimal_size(column.type)
    if size is not None:
        return f"numeric({size[0]},{size[1]})"
    return _TYPES.get(column.type, "jsonb")


def name_problem(name: str) -> str | None:
    if len(name.encode()) > LONGEST_NAME:
        return f"{name} is longer than the {LONGEST_NAME} bytes that PostgreSQL keeps of a name"
    return None

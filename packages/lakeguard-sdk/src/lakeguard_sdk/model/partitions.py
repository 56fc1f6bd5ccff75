"""Partition columns: validation, values as in Delta's log, and partition keys."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from urllib.parse import unquote

from lakeguard_sdk.core.canonical_json import hash_bytes
from lakeguard_sdk.types.schema import TableSchema

PARTITION_TYPES = ("string", "integer", "long", "date", "boolean")
"""Types whose values every engine spells alike."""

PARTITION_KEY = "lg_partition"
"""Folder name of a partitioned write; the files themselves contain the values."""

LONGEST_KEY = 300
"""Maximum length of a partition key; a longer one is cut and ends in its hash."""

_APART = re.compile(r"[%/=\x00-\x1f\x7f]")
"""Characters that are escaped in a partition key."""
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}")


def partition_problem(columns: Sequence[str], schema: TableSchema) -> str | None:
    """Why a table with this schema cannot be partitioned by these columns; None if it can."""
    for name in columns:
        data_type = schema.type_of(name)
        if data_type is None:
            return f"partition column {name!r} does not exist"
        if data_type not in PARTITION_TYPES:
            allowed = f"{', '.join(PARTITION_TYPES[:-1])} or {PARTITION_TYPES[-1]}"
            return f"column {name} is {data_type}; a partition column is {allowed}"
    if columns and PARTITION_KEY in (name.casefold() for name in schema.names):
        return f"a partitioned table cannot have a column {PARTITION_KEY}"
    if len(set(columns)) < len(columns):
        return "duplicate partition column"
    if columns and len(columns) == len(schema.columns):
        return "every column is a partition column; at least one data column is needed"
    return None


def partition_difference(
    values: Mapping[str, str | None], columns: Sequence[str], schema: TableSchema
) -> str | None:
    """How a file's partition values differ from the table's partition columns."""
    if set(values) != set(columns):
        return f"it has values of ({', '.join(sorted(values))}), not ({', '.join(columns)})"
    for name, text in values.items():
        if text is not None and not _spells(text, str(schema.type_of(name))):
            return f"{name} is {text!r}, which is not a valid {schema.type_of(name)}"
    return None


def partition_key(values: Mapping[str, str | None], columns: Sequence[str]) -> str:
    """The key of a partition: ``flight_month=2026-01``, in the order of the columns.

    An empty value is NULL: no other value is spelled as an empty text.
    """
    parts = (f"{_quoted(name)}={_quoted(values.get(name) or '')}" for name in columns)
    text = "/".join(parts)
    if len(text) <= LONGEST_KEY:
        return text
    digest = hash_bytes(text.encode()).removeprefix("sha256:")
    return f"{text[: LONGEST_KEY - 1 - len(digest)]}~{digest}"


def partition_values(key: str) -> dict[str, str | None]:
    """Parses a partition key; raises ValueError if it is invalid."""
    parts = [part.partition("=") for part in key.split("/")]
    if not all(name and sign and "=" not in value for name, sign, value in parts):
        raise ValueError(f"invalid partition {key!r}: write column=value, separated by slashes")
    return {unquote(name): unquote(value) or None for name, _, value in parts}


def _quoted(text: str) -> str:
    return _APART.sub(lambda found: f"%{ord(found[0]):02X}", text)


def _spells(text: str, data_type: str) -> bool:
    """An empty text is invalid: Delta reads it as NULL."""
    if data_type in ("integer", "long"):
        return bool(_WHOLE.fullmatch(text))
    if data_type == "boolean":
        return text in ("true", "false")
    if data_type == "date":
        return _is_date(text)
    return text != ""


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False

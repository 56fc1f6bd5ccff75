"""Column types of other databases."""

from __future__ import annotations

import re

from lakeguard_sdk.types.schema import normal_type

SYNONYMS: dict[str, tuple[str, ...]] = {
    "string": (
        "char", "varchar", "nchar", "nvarchar", "varchar2", "nvarchar2", "character",
        "character varying", "ntext", "clob", "nclob", "uuid", "uniqueidentifier", "json", "xml",
    ),
    "boolean": ("bit",),
    "short": ("int2",),
    "integer": ("int4", "mediumint"),
    "long": ("int8",),
    "float": ("float4",),
    "double": ("double precision", "float8"),
    "decimal(19,4)": ("money",),
    "decimal(10,4)": ("smallmoney",),
    "timestamp": (
        "datetimeoffset", "timestamptz", "timestamp with time zone",
        "timestamp with local time zone",
    ),
    "timestamp_ntz": ("datetime", "datetime2", "smalldatetime", "timestamp without time zone"),
    "binary": ("varbinary", "blob", "bytea", "image", "raw"),
}  # fmt: skip
"""Vendor names of our types. Our own names and aliases take precedence."""

_OURS = {word: ours for ours, words in SYNONYMS.items() for word in words}
_SIZED = re.compile(r"([a-z][a-z0-9_ ]*?)\s*\(\s*(max|[0-9]+)\s*(?:,\s*([0-9]+)\s*)?\)\s*([a-z ]*)")
_EXACT = ("decimal", "numeric", "number", "dec")
_ANY_SIZE = ("string", "binary", "timestamp", "timestamp_ntz")


def column_type(text: str) -> str | None:
    """Our type for a vendor's type; None if there is none.

    The size of text or binary data and the precision of times are ignored. Elements of nested
    types must be our own types.
    """
    if "<" in text:
        return _or_none(text)
    word = " ".join(text.lower().split())
    try:
        return normal_type(_OURS.get(word, word))
    except ValueError:
        pass
    sized = _SIZED.fullmatch(word)
    if sized is None:
        return None
    name, size, scale, rest = sized.groups()
    if name in _EXACT and size != "max" and not rest:
        return _or_none(f"decimal({size},{scale or 0})")
    if name == "float" and scale is None and size != "max":
        return "float" if int(size) <= 24 else "double" if int(size) <= 53 else None
    full = f"{name} {rest}".strip()
    ours = _OURS.get(full) or _or_none(full)
    return ours if ours in _ANY_SIZE and scale is None else None


def _or_none(text: str) -> str | None:
    try:
        return normal_type(text)
    except ValueError:
        return None

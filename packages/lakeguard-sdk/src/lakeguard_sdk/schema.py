"""Column types, table schemas and their fingerprint."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

from lakeguard_sdk.canonical import canonical_json, content_hash
from lakeguard_sdk.noun import Noun

_ALIASES = {
    "int": "integer",
    "bigint": "long",
    "smallint": "short",
    "tinyint": "byte",
    "real": "float",
    "bool": "boolean",
    "text": "string",
}
_PLAIN = frozenset(
    {
        "string",
        "boolean",
        "byte",
        "short",
        "integer",
        "long",
        "float",
        "double",
        "date",
        "timestamp",
        "timestamp_ntz",
        "binary",
    }
)
_DECIMAL = re.compile(r"decimal\(\s*([0-9]{1,2})\s*,\s*([0-9]{1,2})\s*\)\Z")
TYPE_WORDS = tuple(sorted({*_PLAIN, *_ALIASES, "decimal(p,s)"}))


def normal_type(text: str) -> str:
    """The one spelling of a type: Delta's own; ValueError for what is not a column type."""
    word = text.strip().lower()
    word = _ALIASES.get(word, word)
    if word in _PLAIN:
        return word
    match = _DECIMAL.match(word)
    if match and 1 <= int(match[1]) <= 38 and int(match[2]) <= int(match[1]):
        return f"decimal({int(match[1])},{int(match[2])})"
    raise ValueError(f"{text!r} is not a column type")


def decimal_size(data_type: str) -> tuple[int, int] | None:
    match = _DECIMAL.match(data_type)
    return (int(match[1]), int(match[2])) if match else None


INTEGERS = ("byte", "short", "integer", "long")
FLOATS = ("float", "double")


def is_numeric(data_type: str) -> bool:
    return data_type in INTEGERS or data_type in FLOATS or decimal_size(data_type) is not None


def widens(found: str, declared: str) -> bool:
    """Whether every value of ``found`` has the same meaning as a ``declared``."""
    if found == declared:
        return True
    if found in INTEGERS and declared in INTEGERS:
        return INTEGERS.index(found) <= INTEGERS.index(declared)
    if declared == "double":
        return found in ("float", "byte", "short", "integer")
    small, large = decimal_size(found), decimal_size(declared)
    if small and large:
        return large[1] >= small[1] and large[0] - large[1] >= small[0] - small[1]
    return False


DataType = Annotated[str, AfterValidator(normal_type)]


class Column(Noun):
    name: str
    type: DataType


class TableSchema(Noun):
    """Columns in their order. Names are compared exactly, case included."""

    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def type_of(self, name: str) -> str | None:
        return next((column.type for column in self.columns if column.name == name), None)

    def delta_json(self) -> str:
        """The schema as Delta writes it: every column nullable, because the gate enforces."""
        fields = [
            {"name": column.name, "type": column.type, "nullable": True, "metadata": {}}
            for column in self.columns
        ]
        return canonical_json({"type": "struct", "fields": fields})

    @property
    def schema_hash(self) -> str:
        """Order of columns is not part of a schema: a reorder keeps the hash."""
        return content_hash(sorted([column.name, column.type] for column in self.columns))

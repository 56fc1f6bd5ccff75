"""Table schemas and their fingerprint, and the types that their columns have."""

from __future__ import annotations

import json
from collections.abc import Container
from typing import Annotated, Self

from pydantic import AfterValidator, Field

from lakeguard_sdk.canonical import canonical_json, content_hash
from lakeguard_sdk.nested_types import field_names, field_paths, is_nested, leaf_types, widens
from lakeguard_sdk.noun import Noun
from lakeguard_sdk.plain_types import FLOATS, INTEGERS, TIMES, decimal_size, is_numeric
from lakeguard_sdk.type_parser import TYPE_WORDS, normal_type, parse_type
from lakeguard_sdk.type_tree import delta_field, from_delta, type_text

__all__ = [
    "FLOATS",
    "INTEGERS",
    "TIMES",
    "TYPE_WORDS",
    "Column",
    "DataType",
    "TableSchema",
    "decimal_size",
    "field_names",
    "field_paths",
    "is_nested",
    "is_numeric",
    "leaf_types",
    "normal_type",
    "widens",
]

DataType = Annotated[str, AfterValidator(normal_type)]


class Column(Noun):
    name: str
    type: DataType
    nullable: bool | None = Field(default=None, exclude_if=lambda told: told is None)
    """Whether the origin of a live schema says that NULL can be there; None where it says none."""


class TableSchema(Noun):
    """Columns in their order. Names are compared exactly, case included."""

    columns: tuple[Column, ...]

    @classmethod
    def from_delta_json(cls, text: str) -> Self:
        """The schema that any engine wrote; ValueError where a column has no type of ours."""
        fields = json.loads(text)["fields"]
        return cls(columns=tuple(Column(name=f["name"], type=_told(f)) for f in fields))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def type_of(self, name: str) -> str | None:
        return next((column.type for column in self.columns if column.name == name), None)

    @property
    def has_local_times(self) -> bool:
        """Whether a column, or a part of one, is a time without a zone.

        Delta wants that said when a table is created, and cannot be told later.
        """
        return any("timestamp_ntz" in column.type for column in self.columns)

    def only(self, names: Container[str]) -> TableSchema:
        """Those of the columns that have one of these names."""
        return TableSchema(columns=tuple(c for c in self.columns if c.name in names))

    def delta_json(self) -> str:
        """The schema as Delta writes it: every column nullable, because the gate enforces."""
        fields = [delta_field(column.name, parse_type(column.type)) for column in self.columns]
        return canonical_json({"type": "struct", "fields": fields})

    @property
    def schema_hash(self) -> str:
        """Order of columns is not part of a schema: a reorder keeps the hash."""
        return content_hash(sorted([column.name, column.type] for column in self.columns))


def _told(field: dict[str, object]) -> str:
    try:
        return normal_type(type_text(from_delta(field["type"])))
    except ValueError as error:
        raise ValueError(f"column {field['name']}: {error}") from None

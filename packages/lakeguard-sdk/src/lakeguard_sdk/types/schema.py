"""Table schemas, their hash, and operations on column types."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator
from typing import Annotated, Self

from pydantic import AfterValidator, Field

from lakeguard_sdk.core.canonical_json import canonical_json, content_hash
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.types.plain_types import (
    FLOATS,
    INTEGERS,
    TIMES,
    decimal_size,
    is_numeric,
    plain_widens,
)
from lakeguard_sdk.types.type_parser import MEANT, TYPE_WORDS, normal_type, parse_type
from lakeguard_sdk.types.type_tree import (
    ArrayOf,
    ColumnType,
    MapOf,
    StructOf,
    delta_field,
    from_delta,
    parts_of,
    type_text,
)

__all__ = [
    "FLOATS",
    "INTEGERS",
    "MEANT",
    "RESERVED_PREFIX",
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
    "is_reserved_column",
    "leaf_types",
    "normal_type",
    "widens",
]

DataType = Annotated[str, AfterValidator(normal_type)]


class Column(FrozenModel):
    name: str
    type: DataType
    nullable: bool | None = Field(default=None, exclude_if=lambda value: value is None)
    """Nullability as the source declares it; None if unknown."""


RESERVED_PREFIX = "lg_"
"""In any case; of columns that LakeGuard adds to rows while it works on them, and in quarantine."""


def is_reserved_column(name: str) -> bool:
    return name.casefold().startswith(RESERVED_PREFIX)


class TableSchema(FrozenModel):
    """Ordered columns. Names are case-sensitive."""

    columns: tuple[Column, ...]

    @classmethod
    def from_delta_json(cls, text: str) -> Self:
        """Parses a Delta schema of any engine; raises ValueError for an unsupported type."""
        try:
            fields = json.loads(text)["fields"]
            types = [_delta_type_of(field) for field in fields]
        except RecursionError:
            raise ValueError("the schema is nested too deeply") from None
        named = zip(fields, types, strict=True)
        return cls(columns=tuple(Column(name=f["name"], type=found) for f, found in named))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def type_of(self, name: str) -> str | None:
        return next((column.type for column in self.columns if column.name == name), None)

    @property
    def has_local_times(self) -> bool:
        """Whether a column, or a nested field, is a ``timestamp_ntz``.

        Delta needs the table feature when the table is created; it is not added later.
        """
        return any("timestamp_ntz" in column.type for column in self.columns)

    def only(self, names: Container[str]) -> TableSchema:
        """The columns with these names."""
        return TableSchema(columns=tuple(c for c in self.columns if c.name in names))

    def delta_json(self) -> str:
        """The schema in Delta's JSON. All columns are nullable: the gate enforces NOT NULL."""
        fields = [delta_field(column.name, parse_type(column.type)) for column in self.columns]
        return canonical_json({"type": "struct", "fields": fields})

    @property
    def schema_hash(self) -> str:
        """Independent of column order."""
        return content_hash(sorted([column.name, column.type] for column in self.columns))


def _delta_type_of(field: dict[str, object]) -> str:
    try:
        return normal_type(type_text(from_delta(field["type"])))
    except ValueError as error:
        raise ValueError(f"column {field['name']}: {error}") from None


# Operations on column types, including nested ones.

_NESTED = ("array<", "map<", "struct<")


def is_nested(data_type: str) -> bool:
    """Expects the normal form of a type."""
    return data_type.startswith(_NESTED)


def leaf_types(data_type: str) -> tuple[str, ...]:
    """The plain types inside a type, in order: one per Parquet leaf column."""
    return tuple(_leaves(parse_type(data_type))) if is_nested(data_type) else (data_type,)


def field_names(data_type: str) -> tuple[str, ...]:
    """The names of all fields in a type, at every depth."""
    return tuple(_names(parse_type(data_type))) if is_nested(data_type) else ()


def field_paths(name: str, data_type: str) -> tuple[str, ...]:
    """The paths of a column and its struct fields as in Delta statistics: ``a.b.c``."""
    if not is_nested(data_type):
        return (name,)
    return tuple(_paths(name, parse_type(data_type)))


def widens(found: str, declared: str) -> bool:
    """Whether every value of ``found`` can be cast to ``declared`` without loss.

    Struct fields are matched by name; an added or missing field is not a widening.
    """
    return found == declared or _widens(parse_type(found), parse_type(declared))


def _leaves(found: ColumnType) -> Iterator[str]:
    if isinstance(found, str):
        yield found
    for part in parts_of(found):
        yield from _leaves(part)


def _names(found: ColumnType) -> Iterator[str]:
    if isinstance(found, StructOf):
        yield from (name for name, _ in found.fields)
    for part in parts_of(found):
        yield from _names(part)


def _paths(path: str, found: ColumnType) -> Iterator[str]:
    yield path
    if isinstance(found, StructOf):
        for name, part in found.fields:
            yield from _paths(f"{path}.{name}", part)


def _widens(found: ColumnType, declared: ColumnType) -> bool:
    match found, declared:
        case str(), str():
            return plain_widens(found, declared)
        case StructOf(), StructOf():
            wanted = dict(declared.fields)
            return len(found.fields) == len(wanted) and all(
                name in wanted and _widens(part, wanted[name]) for name, part in found.fields
            )
        case (ArrayOf(), ArrayOf()) | (MapOf(), MapOf()):
            pairs = zip(parts_of(found), parts_of(declared), strict=True)
            return all(_widens(one, other) for one, other in pairs)
    return False

"""Which small files one file can hold: those that have no column in two types."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.parquet as pq

from lakeguard_sdk.schema import TableSchema
from openlaketx.compact.column_types import arrow_type

_OLD_CALENDAR = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")
_ROW_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"


@dataclass
class Kind:
    """Files that are alike in every column that two of them have."""

    paths: list[str] = field(default_factory=list)
    fields: dict[str, pa.Field] = field(default_factory=dict)
    metadata: dict[bytes, bytes] = field(default_factory=dict)

    def takes(self, schema: pa.Schema) -> bool:
        return all(self.fields.get(found.name, found).type == found.type for found in schema)

    def add(self, path: str, schema: pa.Schema, declared: TableSchema) -> None:
        self.paths.append(path)
        self.fields |= {found.name: found for found in schema}
        told = dict(schema.metadata or {})
        if tuple(schema.names) != declared.names:
            told.pop(_ROW_SCHEMA, None)  # it tells of fewer columns than the merged file has
        self.metadata = told | self.metadata

    def schema(self, declared: TableSchema) -> pa.Schema:
        """All declared columns in their order; those that no file has in their declared type."""
        columns = [
            self.fields.get(column.name) or pa.field(column.name, arrow_type(column.type))
            for column in declared.columns
        ]
        return pa.schema(columns, metadata=self.metadata)


def kinds_of(files: Iterable[tuple[str, str]], declared: TableSchema) -> list[Kind]:
    """Pairs of path and place, sorted into kinds; what has no like is left alone."""
    kinds: list[Kind] = []
    for path, place in files:
        schema = _held(place, declared)
        if schema is None:
            continue
        kind = next((kind for kind in kinds if kind.takes(schema)), None)
        if kind is None:
            kinds.append(kind := Kind())
        kind.add(path, schema, declared)
    return [kind for kind in kinds if len(kind.paths) > 1]


def _held(file: str, declared: TableSchema) -> pa.Schema | None:
    """The declared columns that a file has; None where it had better be left alone.

    Left alone is what counts its days otherwise or its time in other units, or has a column that
    is not declared: by what is in the file it cannot stand beside others.
    """
    found = pq.read_schema(file)
    if set(_OLD_CALENDAR) & set(found.metadata or {}) or set(found.names) - set(declared.names):
        return None
    if any(unit in str(one.type) for one in found for unit in ("[ns", "[ms", "[s")):
        return None
    return pa.schema([one.with_nullable(True) for one in found], metadata=found.metadata)

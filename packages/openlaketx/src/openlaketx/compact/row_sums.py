"""Digests of the rows of files that do not depend on order, nor on how files divide them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lakeguard_sdk.types.schema import FLOATS, Column, TableSchema
from openlaketx.engine.duckdb_reader import ENGINE, DuckdbReader, file_list

_ROWS = "read_parquet($files, hive_partitioning = false, union_by_name = true)"
"""A column that one of the files lacks is NULL there."""


@dataclass(frozen=True)
class RowSum:
    """Count, sum and exclusive or of a hash of each row; of columns of one schema."""

    schema_hash: str
    rows: int = 0
    total: int = 0
    mixed: int = 0

    def and_(self, other: RowSum) -> RowSum:
        """Of the rows of both."""
        total, mixed = self.total + other.total, self.mixed ^ other.mixed
        return RowSum(self.schema_hash, self.rows + other.rows, total, mixed)

    def text(self) -> str:
        """Comparable with what the same engine said of the same columns."""
        return f"{ENGINE}, {self.schema_hash}, {self.rows} rows, {self.total:x}, {self.mixed:x}"


def row_sum(reader: DuckdbReader, files: Sequence[str], schema: TableSchema) -> RowSum:
    """Of all rows of the files, read back from them."""
    if not files:
        return RowSum(schema.schema_hash)
    hashed = f"hash({', '.join(map(_told, schema.columns))})"
    rows, total, mixed = reader.row(
        f"SELECT count(*), coalesce(sum({hashed}::HUGEINT), 0), coalesce(bit_xor({hashed}), 0)"  # noqa: S608
        f" FROM {_ROWS}",
        {"files": file_list(files)},
    )
    return RowSum(schema.schema_hash, int(rows), int(total), int(mixed))


def columns_with_nan(
    reader: DuckdbReader, files: Sequence[str], schema: TableSchema
) -> frozenset[str]:
    """Plain columns in which a value is no number: bounds without it would hide its row."""
    floats = [column.name for column in schema.columns if column.type in FLOATS]
    if not floats:
        return frozenset()
    asked = ", ".join(f"coalesce(bool_or(isnan({_quoted(name)})), false)" for name in floats)
    found = reader.row(f"SELECT {asked} FROM {_ROWS}", {"files": file_list(files)})  # noqa: S608
    return frozenset(name for name, nan in zip(floats, found, strict=True) if nan)


def _told(column: Column) -> str:
    """Zero has two spellings, and to a hash of numbers they are one."""
    name = _quoted(column.name)
    return f"{name}::VARCHAR" if column.type in FLOATS else name


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'

"""Row digests that do not depend on row order or file boundaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lakeguard_sdk.types.schema import FLOATS, Column, TableSchema
from openlaketx.engine.duckdb_reader import ENGINE, DuckdbReader, file_list

_ROWS = "read_parquet($files, hive_partitioning = false, union_by_name = true)"
"""A column that a file lacks is NULL."""


@dataclass(frozen=True)
class RowSum:
    """Count, sum and XOR of the row hashes, over the columns of one schema."""

    schema_hash: str
    rows: int = 0
    total: int = 0
    mixed: int = 0

    def and_(self, other: RowSum) -> RowSum:
        """Of the union of the rows."""
        total, mixed = self.total + other.total, self.mixed ^ other.mixed
        return RowSum(self.schema_hash, self.rows + other.rows, total, mixed)

    def text(self) -> str:
        """Comparable only between results of the same engine over the same columns."""
        return f"{ENGINE}, {self.schema_hash}, {self.rows} rows, {self.total:x}, {self.mixed:x}"


def row_sum(reader: DuckdbReader, files: Sequence[str], schema: TableSchema) -> RowSum:
    """Of all rows of the files, as read back."""
    if not files:
        return RowSum(schema.schema_hash)
    hashed = f"hash({', '.join(map(_hash_input, schema.columns))})"
    rows, total, mixed = reader.row(
        f"SELECT count(*), coalesce(sum({hashed}::HUGEINT), 0), coalesce(bit_xor({hashed}), 0)"  # noqa: S608
        f" FROM {_ROWS}",
        {"files": file_list(files)},
    )
    return RowSum(schema.schema_hash, int(rows), int(total), int(mixed))


def columns_with_nan(
    reader: DuckdbReader, files: Sequence[str], schema: TableSchema
) -> frozenset[str]:
    """Plain columns with a NaN: statistics without it would hide the row from readers."""
    floats = [column.name for column in schema.columns if column.type in FLOATS]
    if not floats:
        return frozenset()
    checks = ", ".join(f"coalesce(bool_or(isnan({_quoted(name)})), false)" for name in floats)
    found = reader.row(f"SELECT {checks} FROM {_ROWS}", {"files": file_list(files)})  # noqa: S608
    return frozenset(name for name, nan in zip(floats, found, strict=True) if nan)


def _hash_input(column: Column) -> str:
    """-0.0 and 0.0 hash differently as text, and alike as numbers."""
    name = _quoted(column.name)
    return f"{name}::VARCHAR" if column.type in FLOATS else name


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'

"""Writing the rows of several Parquet files as one, in the very types that they have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from lakeguard_sdk.schema import TableSchema

_ROW_GROUP_BYTES = 64 * 1024 * 1024
_BATCH_ROWS = 65_536
_OLD_CALENDAR = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")
_INEXACT = ("FLOAT", "DOUBLE")


def plain_schema(file: str, declared: TableSchema) -> pa.Schema | None:
    """What a merged file would have of this one; None where it had better be left alone.

    Left alone is what counts its days otherwise or its time in other units, or has its columns
    in another order: by what is in the file it cannot stand beside others.
    """
    found = pq.read_schema(file)
    if set(_OLD_CALENDAR) & set(found.metadata or {}) or tuple(found.names) != declared.names:
        return None
    if any(unit in str(field.type) for field in found for unit in ("[ns", "[ms", "[s")):
        return None
    return pa.schema([field.with_nullable(True) for field in found], metadata=found.metadata)


def merge(files: Sequence[str], place: Path, schema: pa.Schema, leave_out: frozenset[str]) -> None:
    """One file with all rows of ``files``, in their order; without bounds for ``leave_out``."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with pq.ParquetWriter(
        place,
        schema,
        compression="snappy",
        store_schema=False,
        store_decimal_as_integer=True,
        write_statistics=_bounded(files[0], leave_out),
    ) as writer:
        for rows in _row_groups(files, schema):
            writer.write_table(rows, row_group_size=max(1, rows.num_rows))
        if schema.metadata:
            writer.add_key_value_metadata(schema.metadata)


def _row_groups(files: Sequence[str], schema: pa.Schema) -> Iterator[pa.Table]:
    held: list[pa.RecordBatch] = []
    size = 0
    for file in files:
        with pq.ParquetFile(file) as content:
            for batch in content.iter_batches(batch_size=_BATCH_ROWS):
                held.append(batch.cast(schema))
                size += batch.nbytes
                if size >= _ROW_GROUP_BYTES:
                    yield pa.Table.from_batches(held, schema)
                    held, size = [], 0
    if held:
        yield pa.Table.from_batches(held, schema)


def _bounded(file: str, leave_out: frozenset[str]) -> list[str]:
    """Columns to write bounds for. Of parts of nested ones nobody looked for what is no number."""
    columns = pq.read_metadata(file).schema
    found = (columns.column(index) for index in range(len(columns)))
    return [
        column.path
        for column in found
        if column.path not in leave_out
        and (column.physical_type not in _INEXACT or column.path == column.name)
    ]

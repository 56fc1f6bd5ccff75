"""Writing the rows of several Parquet files as one, in the very types that they have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

_ROW_GROUP_BYTES = 64 * 1024 * 1024
_BATCH_ROWS = 65_536
_INEXACT = ("FLOAT", "DOUBLE")


def write_pattern(place: Path, schema: pa.Schema) -> None:
    """A file of no rows: what a merged one looks like."""
    with pq.ParquetWriter(place, schema, **_spelling()):
        pass


def merge(
    files: Sequence[str],
    place: Path,
    schema: pa.Schema,
    bounded: Sequence[str],
) -> None:
    """One file with all rows of ``files``, in their order; a column that one lacks is NULL there.

    Only columns in ``bounded`` get bounds.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    with pq.ParquetWriter(
        place, schema, compression="snappy", write_statistics=list(bounded), **_spelling()
    ) as writer:
        for rows in _row_groups(files, schema):
            writer.write_table(rows, row_group_size=max(1, rows.num_rows))
        if schema.metadata:
            writer.add_key_value_metadata(schema.metadata)


def bounded_columns(pattern: Path, leave_out: frozenset[str]) -> list[str]:
    """Columns to write bounds for. Of parts of nested ones nobody looked for what is no number."""
    columns = pq.read_metadata(pattern).schema
    found = (columns.column(index) for index in range(len(columns)))
    return [
        column.path
        for column in found
        if column.path not in leave_out
        and (column.physical_type not in _INEXACT or column.path == column.name)
    ]


def _spelling() -> dict[str, bool]:
    """As Spark writes it."""
    return {"store_schema": False, "store_decimal_as_integer": True}


def _row_groups(files: Sequence[str], schema: pa.Schema) -> Iterator[pa.Table]:
    held: list[pa.RecordBatch] = []
    size = 0
    for file in files:
        with pq.ParquetFile(file) as content:
            for batch in content.iter_batches(batch_size=_BATCH_ROWS):
                held.append(_filled(batch, schema))
                size += batch.nbytes
                if size >= _ROW_GROUP_BYTES:
                    yield pa.Table.from_batches(held, schema)
                    held, size = [], 0
    if held:
        yield pa.Table.from_batches(held, schema)


def _filled(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    names = set(batch.schema.names)
    columns = [
        batch.column(field.name).cast(field.type)
        if field.name in names
        else pa.nulls(batch.num_rows, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)

"""Writing the rows of several Parquet files as one, in the very types that they have."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from openlaketx.engine.parquet_writing import AS_SPARK, BATCH_ROWS, ParquetRows

_INEXACT = ("FLOAT", "DOUBLE")


def write_pattern(place: Path, schema: pa.Schema) -> None:
    """A file of no rows: what a merged one looks like."""
    with pq.ParquetWriter(place, schema, **AS_SPARK):
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
    with ParquetRows(place, schema, bounded) as rows:
        for file in files:
            with pq.ParquetFile(file) as content:
                for batch in content.iter_batches(batch_size=BATCH_ROWS):
                    rows.add(_filled(batch, schema))


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


def _filled(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    names = set(batch.schema.names)
    columns = [
        batch.column(field.name).cast(field.type)
        if field.name in names
        else pa.nulls(batch.num_rows, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)

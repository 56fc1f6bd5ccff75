"""Writes Parquet as Spark does, without Spark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

BATCH_ROWS = 65_536
_ROW_GROUP_BYTES = 64 * 1024 * 1024
AS_SPARK: dict[str, Any] = {"store_schema": False, "store_decimal_as_integer": True}
"""Options for Spark's physical types."""


class ParquetRows:
    """Writes batches of rows to a file, in row groups of a suitable size.

    The file is created with the first row. Only columns in ``bounded`` get statistics. Values are
    encoded by a dictionary where that saves space, or only in columns in ``repeated``: trying it
    takes as long as writing.
    """

    def __init__(
        self,
        place: Path,
        schema: pa.Schema,
        bounded: Sequence[str],
        repeated: Sequence[str] | None = None,
    ) -> None:
        self._place = place
        self._schema = schema
        self._bounded = list(bounded)
        self._repeated = True if repeated is None else list(repeated)
        self._writer: pq.ParquetWriter | None = None
        self._held: list[pa.RecordBatch] = []
        self._size = 0
        self.rows = 0

    def add(self, batch: pa.RecordBatch) -> None:
        if not batch.num_rows:
            return
        self._held.append(batch)
        self._size += batch.nbytes
        self.rows += batch.num_rows
        if self._size >= _ROW_GROUP_BYTES:
            self._write()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self._write()
        if self._writer is None:
            return
        if self._schema.metadata:
            self._writer.add_key_value_metadata(self._schema.metadata)
        self._writer.close()

    def _write(self) -> None:
        if not self._held:
            return
        if self._writer is None:
            self._place.parent.mkdir(parents=True, exist_ok=True)
            self._writer = pq.ParquetWriter(
                self._place,
                self._schema,
                compression="snappy",
                write_statistics=self._bounded,
                use_dictionary=self._repeated,
                **AS_SPARK,
            )
        rows = pa.Table.from_batches(self._held, self._schema)
        self._writer.write_table(rows, row_group_size=rows.num_rows)
        self._held, self._size = [], 0

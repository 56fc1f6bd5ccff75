"""Files of quarantined rows: one per rule, with the reason for each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from threading import Lock
from types import TracebackType
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc

from lakeguard_sdk.model.quarantine import (
    FIRST_SEEN,
    REASON,
    RULES,
    RUN,
    QuarantineRule,
)
from lakeguard_sdk.storage.storage import join
from openlaketx.engine.locations import writable_path
from openlaketx.engine.parquet_writer import ParquetRows

ROW_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"
"""The column names of a file for Spark; any other names mislead it."""
_TIME = pa.timestamp("us", "UTC")
_QUARANTINE_FIELDS = (
    pa.field(RUN, pa.string()),
    pa.field(RULES, pa.list_(pa.field("element", pa.string()))),
    pa.field(REASON, pa.string()),
    pa.field(FIRST_SEEN, _TIME),
)


@dataclass
class _File:
    rows: ParquetRows
    first_seen: datetime


@dataclass
class QuarantineFiles:
    """Thread-safe; a row is stored under the first of the rules that it fails.

    Files have no column statistics, and reasons contain no values.
    """

    folder: str
    """Location."""
    stem: str
    """Prefix of each file name."""
    run_id: str
    rules: Sequence[QuarantineRule]
    columns: tuple[str, ...]
    """The columns of the batch."""
    now: datetime
    _files: dict[int, _File] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def add(self, batch: pa.RecordBatch, bits: Sequence[int]) -> None:
        """Adds rows, each with the rules that it fails."""
        firsts = [(row & -row).bit_length() - 1 for row in bits]
        for number in sorted(set(firsts)):
            at = pa.array([i for i, first in enumerate(firsts) if first == number], pa.int64())
            chosen = [row for row, first in zip(bits, firsts, strict=True) if first == number]
            rows = self._with_reasons(batch.take(at), chosen)
            seen = pc.min(rows.column(FIRST_SEEN)).as_py()
            with self._lock:
                file = self._file(number, rows.schema)
                file.rows.add(rows)
                file.first_seen = min(file.first_seen, seen)

    def place(self, number: int) -> str:
        return join(self.folder, f"{self.stem}-{number:03d}.snappy.parquet")

    @property
    def found(self) -> dict[int, tuple[str, int, datetime]]:
        """By rule number: its file, the row count, and the oldest first-seen time."""
        return {
            number: (self.place(number), file.rows.rows, file.first_seen)
            for number, file in sorted(self._files.items())
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for file in self._files.values():
            file.rows.__exit__(kind, error, trace)

    def _file(self, number: int, schema: pa.Schema) -> _File:
        if number not in self._files:
            rows = ParquetRows(writable_path(self.place(number)), schema, ())
            self._files[number] = _File(rows, self.now)
        return self._files[number]

    def _with_reasons(self, batch: pa.RecordBatch, bits: Sequence[int]) -> pa.RecordBatch:
        rules = [self._named[row] if row in self._named else self._name(row) for row in bits]
        many = len(bits)
        seen = (
            batch.column(FIRST_SEEN).cast(_TIME)
            if FIRST_SEEN in batch.schema.names
            else pa.array([self.now] * many, _TIME)
        )
        reasons = [
            pa.array([self.run_id] * many, pa.string()),
            pa.array([names for names, _ in rules], _QUARANTINE_FIELDS[1].type),
            pa.array([reason for _, reason in rules], pa.string()),
            seen,
        ]
        held = [batch.schema.field(name).with_nullable(True) for name in self.columns]
        metadata = {k: v for k, v in (batch.schema.metadata or {}).items() if k != ROW_SCHEMA}
        schema = pa.schema([*held, *_QUARANTINE_FIELDS], metadata=metadata)
        columns = [batch.column(name) for name in self.columns]
        return pa.RecordBatch.from_arrays([*columns, *reasons], schema=schema)

    @cached_property
    def _named(self) -> dict[int, tuple[list[str], str]]:
        return {}

    def _name(self, bits: int) -> tuple[list[str], str]:
        failed = [rule for number, rule in enumerate(self.rules) if bits >> number & 1]
        names = [rule.rule_id for rule in failed]
        self._named[bits] = names, "; ".join(rule.expression for rule in failed)
        return self._named[bits]

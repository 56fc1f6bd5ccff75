"""Files of rows that rules kept out: one for each rule, with what each row was kept out by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
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
    AsideRule,
)
from openlaketx.engine.parquet_writer import ParquetRows

ROW_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"
"""Names the columns of a file to Spark; others than those of the file mislead it."""
_TIME = pa.timestamp("us", "UTC")
_KEPT = (
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
class KeptFiles:
    """Rows come from several threads; a row is filed under the first of the rules that it fails.

    Nothing of it has bounds, and no reason tells a value.
    """

    folder: Path
    stem: str
    """Begins the name of each file."""
    run_id: str
    rules: Sequence[AsideRule]
    columns: tuple[str, ...]
    """Those of the batch."""
    now: datetime
    _files: dict[int, _File] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def add(self, batch: pa.RecordBatch, bits: Sequence[int]) -> None:
        """Rows, each with the rules that it fails."""
        firsts = [(told & -told).bit_length() - 1 for told in bits]
        for number in sorted(set(firsts)):
            at = pa.array([i for i, first in enumerate(firsts) if first == number], pa.int64())
            chosen = [told for told, first in zip(bits, firsts, strict=True) if first == number]
            rows = self._with_kept(batch.take(at), chosen)
            seen = pc.min(rows.column(FIRST_SEEN)).as_py()
            with self._lock:
                file = self._file(number, rows.schema)
                file.rows.add(rows)
                file.first_seen = min(file.first_seen, seen)

    def place(self, number: int) -> Path:
        return self.folder / f"{self.stem}-{number:03d}.snappy.parquet"

    @property
    def found(self) -> dict[int, tuple[Path, int, datetime]]:
        """By the number of the rule: its file, how many rows, when the oldest was first seen."""
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
            rows = ParquetRows(self.place(number), schema, ())
            self._files[number] = _File(rows, self.now)
        return self._files[number]

    def _with_kept(self, batch: pa.RecordBatch, bits: Sequence[int]) -> pa.RecordBatch:
        rules = [self._named[told] if told in self._named else self._name(told) for told in bits]
        many = len(bits)
        seen = (
            batch.column(FIRST_SEEN).cast(_TIME)
            if FIRST_SEEN in batch.schema.names
            else pa.array([self.now] * many, _TIME)
        )
        kept = [
            pa.array([self.run_id] * many, pa.string()),
            pa.array([names for names, _ in rules], _KEPT[1].type),
            pa.array([reason for _, reason in rules], pa.string()),
            seen,
        ]
        held = [batch.schema.field(name).with_nullable(True) for name in self.columns]
        told = {k: v for k, v in (batch.schema.metadata or {}).items() if k != ROW_SCHEMA}
        schema = pa.schema([*held, *_KEPT], metadata=told)
        columns = [batch.column(name) for name in self.columns]
        return pa.RecordBatch.from_arrays([*columns, *kept], schema=schema)

    @cached_property
    def _named(self) -> dict[int, tuple[list[str], str]]:
        return {}

    def _name(self, bits: int) -> tuple[list[str], str]:
        failed = [rule for number, rule in enumerate(self.rules) if bits >> number & 1]
        names = [rule.rule_id for rule in failed]
        self._named[bits] = names, "; ".join(rule.expression for rule in failed)
        return self._named[bits]

"""Failing rows of files as bitmaps: one bit per row and rule."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_

import pyarrow as pa
import pyarrow.compute as pc


class RowBitmap:
    """Rows of one file, by number, with the rules that each fails.

    Memory depends on the rows of the file, not on how many fail.
    """

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._rules: dict[int, bytearray] = {}

    def mark(self, row: int, rule: int) -> None:
        """ValueError if the file has no such row."""
        if not 0 <= row < self._rows:
            raise ValueError(f"row {row} is out of range in a file of {self._rows} rows")
        marks = self._rules.get(rule)
        if marks is None:
            marks = self._rules[rule] = bytearray(-(-self._rows // 8))
        marks[row >> 3] |= 1 << (row & 7)

    @property
    def rows(self) -> int:
        """Rows marked by any rule."""
        return reduce(or_, map(int.from_bytes, self._rules.values()), 0).bit_count()

    def of(self, rule: int) -> int:
        """Rows that fail the rule."""
        return int.from_bytes(self._rules.get(rule, b"")).bit_count()

    def within(self, start: int, rows: int) -> tuple[pa.BooleanArray, Sequence[int]]:
        """For ``rows`` rows from ``start``: which are marked, and the rule bits of each marked
        row."""
        masks = {rule: self._mask(rule, start, rows) for rule in sorted(self._rules)}
        either = reduce(pc.or_, masks.values(), pa.repeat(pa.scalar(False), rows))
        row_bits = [0] * pc.sum(either, min_count=0).as_py()
        for rule, mask in masks.items():
            for at, fails in enumerate(mask.filter(either).to_pylist() if row_bits else ()):
                row_bits[at] |= fails << rule
        return either, row_bits

    def _mask(self, rule: int, start: int, rows: int) -> pa.BooleanArray:
        """Arrow's bit order, so nothing is copied."""
        buffers = [None, pa.py_buffer(self._rules[rule])]
        return pa.Array.from_buffers(pa.bool_(), rows, buffers, offset=start)

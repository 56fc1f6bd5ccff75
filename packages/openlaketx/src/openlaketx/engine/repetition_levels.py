"""Reads the repetition levels of a Parquet page, which mark where rows begin."""

from __future__ import annotations

from functools import reduce
from operator import or_

from openlaketx.engine.compact_thrift import CompactReader, NotThrift


def starts(levels: bytes, width: int, count: int) -> tuple[int, bool]:
    """How many of ``count`` levels are 0, and whether the first one is.

    Levels have Parquet's RLE/bit-packing hybrid encoding; raises ``NotThrift`` if there are too
    few.
    """
    reader, zeros, begins, left = CompactReader(levels), 0, None, count
    while left:
        head = reader.unsigned()
        if head & 1:
            found = min(left, 8 * (head >> 1))
            packed = int.from_bytes(reader.take((head >> 1) * width), "little")
            lanes = ((1 << found * width) - 1) // ((1 << width) - 1)
            others = (reduce(or_, (packed >> bit for bit in range(width))) & lanes).bit_count()
            is_zero = not packed & ((1 << width) - 1)
        else:
            found = min(left, head >> 1)
            is_zero = not int.from_bytes(reader.take((width + 7) // 8), "little")
            others = 0 if is_zero else found
        if not found:
            raise NotThrift("a run without levels")
        begins = is_zero if begins is None else begins
        zeros += found - others
        left -= found
    return zeros, begins is not False

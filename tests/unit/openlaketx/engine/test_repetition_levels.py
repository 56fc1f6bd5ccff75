"""Rows that begin in a page are counted from its levels."""

from __future__ import annotations

import pytest

from openlaketx.engine.compact_thrift import NotThrift
from openlaketx.engine.repetition_levels import starts

RUN_OF_TWO_ZEROS, RUN_OF_THREE_ONES = bytes([2 << 1, 0]), bytes([3 << 1, 1])
PACKED = bytes([1 << 1 | 1, 0b10010110])


@pytest.mark.parametrize(
    ("levels", "width", "count", "expected"),
    [
        (RUN_OF_TWO_ZEROS + RUN_OF_THREE_ONES, 1, 5, (2, True)),
        (RUN_OF_THREE_ONES + RUN_OF_TWO_ZEROS, 1, 5, (2, False)),
        (PACKED, 1, 8, (4, True)),
        (PACKED, 1, 2, (1, True)),
        (RUN_OF_THREE_ONES + PACKED, 1, 11, (4, False)),
        (bytes([1 << 1 | 1, 0b01100100, 0b00000011]), 2, 8, (4, True)),
        (RUN_OF_TWO_ZEROS, 2, 1, (1, True)),
        (b"", 1, 0, (0, True)),
    ],
)
def test_levels_of_0_begin_rows(
    levels: bytes, width: int, count: int, expected: tuple[int, bool]
) -> None:
    assert starts(levels, width, count) == expected


@pytest.mark.parametrize("levels", [b"", RUN_OF_TWO_ZEROS, b"\0\0", b"\1", bytes([9]) + PACKED])
def test_too_few_levels_are_refused(levels: bytes) -> None:
    with pytest.raises(NotThrift):
        starts(levels, 1, 80)

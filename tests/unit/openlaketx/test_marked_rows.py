"""Rows that rules point at, in bits: held against plain sets."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openlaketx.quarantine.row_bitmap import RowBitmap

MARKS = st.sets(st.tuples(st.integers(0, 99), st.integers(0, 4)))


@settings(deadline=None)
@given(marks=MARKS, start=st.integers(0, 99), many=st.integers(1, 100))
def test_what_is_marked_is_told_and_nothing_else(
    marks: set[tuple[int, int]], start: int, many: int
) -> None:
    found = RowBitmap(100)
    for row, rule in marks:
        found.mark(row, rule)
    assert found.rows == len({row for row, _ in marks})
    for rule in range(5):
        assert found.of(rule) == len([1 for _, reported in marks if reported == rule])
    end = min(start + many, 100)
    marked, bits = found.within(start, end - start)
    expected = [sum(1 << rule for at, rule in marks if at == row) for row in range(start, end)]
    assert marked.to_pylist() == [reported > 0 for reported in expected]
    assert bits == [reported for reported in expected if reported]


@pytest.mark.parametrize("row", [-1, 10, 15])
def test_a_row_that_the_file_does_not_have_is_refused(row: int) -> None:
    """Though there is a bit for it."""
    with pytest.raises(ValueError, match="in a file of 10 rows"):
        RowBitmap(10).mark(row, 0)


def test_memory_does_not_grow_with_the_rows_that_fail() -> None:
    found = RowBitmap(1_000_000)
    for row in range(0, 1_000_000, 3):
        found.mark(row, 0)
    assert found.rows == found.of(0) == 333_334
    assert sum(len(marks) for marks in vars(found)["_rules"].values()) == 125_000

"""Reaches over whole numbers, against sets of numbers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lakeguard_sdk.model.partitions import partition_key
from lakeguard_sdk.model.row_ranges import (
    RowRange,
    carried_over,
    joined,
    lies_within,
    window_over,
)
from lakeguard_sdk.model.run import Window
from lakeguard_sdk.types.schema import Column, TableSchema

SCHEMA = TableSchema(columns=(Column(name="n", type="long"), Column(name="ok", type="boolean")))
NUMBERS = range(-12, 13)


def parts(numbers: set[int]) -> RowRange:
    keys = (partition_key({"n": str(number)}, ["n"]) for number in numbers)
    return RowRange(partitions=tuple(sorted(keys)))


def window(first: int, last: int) -> RowRange:
    return RowRange(window=Window(column="n", start=str(first), end=str(last)))


number = st.sampled_from(NUMBERS)
some = st.sets(number, min_size=1).map(lambda found: (parts(found), found))
bounds = st.tuples(number, number).map(sorted)
windows = bounds.map(lambda two: (window(*two), set(range(two[0], two[1] + 1))))


@given(some, windows)
def test_partitions_lie_within_a_window_that_has_their_values(
    inner: tuple[RowRange, set[int]], outer: tuple[RowRange, set[int]]
) -> None:
    assert lies_within(inner[0], outer[0], SCHEMA) is (inner[1] <= outer[1])


@given(windows, windows)
def test_windows_lie_within_wider_ones(
    inner: tuple[RowRange, set[int]], outer: tuple[RowRange, set[int]]
) -> None:
    assert lies_within(inner[0], outer[0], SCHEMA) is (inner[1] <= outer[1])


@given(some, some)
def test_partitions_lie_within_more_of_them(
    inner: tuple[RowRange, set[int]], outer: tuple[RowRange, set[int]]
) -> None:
    assert lies_within(inner[0], outer[0], SCHEMA) is (inner[1] <= outer[1])
    assert joined([inner[0], outer[0]]) == parts(inner[1] | outer[1])


@given(some)
def test_the_least_window_ends_at_the_least_and_the_greatest(
    reach: tuple[RowRange, set[int]],
) -> None:
    found = window_over(reach[0], SCHEMA)
    assert found == Window(column="n", start=str(min(reach[1])), end=str(max(reach[1])))


@given(some, st.booleans())
def test_a_part_is_carried_over_by_the_same_column_or_not_at_all(
    reach: tuple[RowRange, set[int]], same: bool
) -> None:
    carried = carried_over(reach[0], ["n"] if same else ["m"], "")
    assert carried == (reach[0] if same else RowRange())


def test_all_of_it_lies_within_nothing_less() -> None:
    assert lies_within(RowRange(), RowRange(), SCHEMA)
    assert not lies_within(RowRange(), window(-12, 12), SCHEMA)
    assert lies_within(parts({1}), RowRange(), SCHEMA)


def test_what_has_no_order_has_no_window() -> None:
    assert window_over(RowRange(partitions=("ok=true",)), SCHEMA) is None
    assert window_over(RowRange(partitions=("n=",)), SCHEMA) is None
    assert window_over(RowRange(), SCHEMA) is None


def test_a_partition_of_more_columns_is_in_that_of_fewer() -> None:
    reach = RowRange(partitions=("n=1/ok=true",))
    assert carried_over(reach, ["n"], "") == RowRange(partitions=("n=1",))
    assert carried_over(RowRange(partitions=("n=1",)), ["n", "ok"], "") == RowRange()

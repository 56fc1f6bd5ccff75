"""Sketches of two halves, merged, are about the sketch of the whole; others are not merged."""

from __future__ import annotations

import random

import pytest

from lakeguard_sdk.model.profile import SHARES, ColumnProfile, Sketch
from openlaketx.profile import merged
from openlaketx.profile.sketches import distinct_in, quantiles_in
from tests.property.profile.test_oracle import profiled

ROWS = 30_000
CHANCE = random.Random(7)
SPREAD = [CHANCE.gauss(1000, 300) for _ in range(ROWS)]
WORDS = [f"word {number % 9_000}" for number in range(ROWS)]


def column(values: list[object], data_type: str) -> ColumnProfile:
    return profiled(values, data_type).columns[0]


def sketch(profile: ColumnProfile, kind: str) -> Sketch:
    return next(each for each in profile.sketches if each.kind == kind)


def of_halves(values: list[object], data_type: str, kind: str) -> Sketch:
    halves = (values[: ROWS // 2], values[ROWS // 2 :])
    first, second = (sketch(column(half, data_type), kind) for half in halves)
    return merged(first, second)


@pytest.mark.parametrize(("values", "data_type"), [(SPREAD, "double"), (WORDS, "string")])
def test_different_values_of_two_halves(values: list[object], data_type: str) -> None:
    both = of_halves(values, data_type, "hll")
    assert distinct_in(both) == pytest.approx(len(set(values)), rel=0.05)
    assert distinct_in(sketch(column(values, data_type), "hll")) == pytest.approx(
        len(set(values)), rel=0.05
    )


def test_quantiles_of_two_halves() -> None:
    """A place may be off by a share of the rows, not by a share of its value."""
    both = of_halves(list(SPREAD), "double", "kll")
    ordered = sorted(SPREAD)
    shares = [float(share) for share in SHARES]
    for share, place in zip(shares, quantiles_in(both, shares), strict=True):
        rank = sum(1 for value in ordered if value <= place) / ROWS
        assert rank == pytest.approx(share, abs=0.02), share


def test_nothing_is_added_by_a_half_that_is_empty() -> None:
    whole, empty = (column(values, "long") for values in ([1, 2, 3], []))
    assert quantiles_in(merged(sketch(whole, "kll"), sketch(empty, "kll")), [0.0, 1.0]) == [1, 3]
    assert round(distinct_in(merged(sketch(empty, "hll"), sketch(whole, "hll")))) == 3
    assert quantiles_in(sketch(empty, "kll"), [0.5]) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [("long", "double"), ("date", "timestamp"), ("decimal(9,2)", "decimal(9,1)")],
)
def test_sketches_of_different_types_are_never_merged(one: str, other: str) -> None:
    """Their bytes would be read as each other's without a complaint."""
    for kind in ("hll", "kll"):
        first, second = (sketch(column([], each), kind) for each in (one, other))
        with pytest.raises(ValueError, match="cannot merge"):
            merged(first, second)


def test_a_number_that_most_rows_have_is_put_in_as_often() -> None:
    values: list[object] = [5] * 250_000 + [9] * 50_000
    found = column(values, "long")
    assert (found.mean, found.quantiles["0.75"], found.quantiles["0.9"]) == (
        pytest.approx(5 + 4 / 6),
        5,
        9,
    )

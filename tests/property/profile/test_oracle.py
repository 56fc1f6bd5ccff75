"""Every figure of a profile is what plain Python makes of the same values."""

from __future__ import annotations

import math
import tempfile
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lakeguard_sdk.core.dataset_name import Address
from lakeguard_sdk.model.profile import ColumnProfile, Profile
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.profile import profile_version
from openlaketx.profile.sketches import distinct_in, quantiles_in
from tests.property.profile import oracle
from tests.support.examples import examples
from tests.support.lakes.plans import DATASET
from tests.support.lakes.published_tables import PublishedTable

LARGE = Decimal("9" * 38)
LEAST = Decimal("-" + "9" * 38)
TEXTS = st.one_of(
    st.sampled_from(
        ["", "a", "A1", "Ærø-42", "日本 ٣", "ǅ", "e\u0301", "x" * 150, "é" * 61, "'\"\\"]
    ),
    st.text(st.characters(max_codepoint=0x24F, exclude_categories=["Cs"]), max_size=70),
)
ODD = st.sampled_from([math.nan, math.inf, -math.inf, 0.0, -0.0, 1e308, -1e308, 5e-324])
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "long": st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3),
    "byte": st.integers(-128, 127),
    "double": ODD | st.floats(-100, 100) | st.sampled_from([1.5, 2.5]),
    "float": st.floats(width=32),
    "decimal(38,0)": st.sampled_from([LARGE, LEAST, Decimal(0), Decimal(7)]),
    "decimal(9,2)": st.decimals(-9999999, 9999999, places=2),
    "date": st.dates(),
    "timestamp": st.datetimes(timezones=st.just(UTC)),
    "timestamp_ntz": st.datetimes(),
    "boolean": st.booleans(),
    "string": TEXTS,
}
NUMBERS = ("long", "byte", "double", "float", "decimal(38,0)", "decimal(9,2)")


@st.composite
def columns(draw: st.DrawFn) -> tuple[str, list[Any]]:
    data_type = draw(st.sampled_from(sorted(VALUES)))
    few = draw(st.lists(VALUES[data_type], min_size=1, max_size=14))
    values = draw(st.lists(st.none() | st.sampled_from(few), max_size=40))
    return data_type, values


def profiled(
    values: list[Any], data_type: str, masked: tuple[str, ...] = (), parts: int = 2
) -> Profile:
    with tempfile.TemporaryDirectory() as folder:
        schema = TableSchema(columns=(Column(name="v", type=data_type),))
        table = PublishedTable(Path(folder), schema)
        rows = [{"v": value} for value in values]
        table.publish(*(rows[part::parts] for part in range(parts)))
        return profile_version(table.resolve(Address(dataset=DATASET)), masked=masked)


@examples(150)
@given(columns())
@example(("double", []))
@example(("double", [None, None]))
@example(("double", [math.nan, math.nan, None]))
@example(("double", [math.inf, 1.0]))
@example(("double", [1e308, 1e308, -1e308]))
@example(("decimal(38,0)", [LARGE, LEAST, LARGE]))
@example(("string", ["one"]))
@example(("string", [str(number) for number in range(11)]))
@example(("date", [date(1, 1, 1), date(9999, 12, 31)]))
@example(("timestamp", [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)]))
def test_a_column_is_told_as_it_is(column: tuple[str, list[Any]]) -> None:
    data_type, values = column
    profile = profiled(values, data_type)
    assert profile.rows == len(values)
    (found,) = profile.columns
    check_counts(found, values, data_type)
    check_texts(found, values, data_type)
    check_numbers(found, values, data_type)
    check_sketches(found, values)


def check_counts(found: ColumnProfile, values: list[Any], data_type: str) -> None:
    there = oracle.present(values)
    assert (found.column, found.type, found.masked) == ("v", data_type, False)
    assert found.nulls == values.count(None)
    assert found.nans == there.count("NaN")
    assert found.distinct == len(set(there))
    assert (found.least, found.greatest) == oracle.extremes(values, data_type)
    assert [(each.value, each.rows) for each in found.top] == oracle.top(values, data_type)


def check_texts(found: ColumnProfile, values: list[Any], data_type: str) -> None:
    if data_type != "string":
        assert (found.lengths, found.patterns) == (None, ())
        return
    assert [(each.value, each.rows) for each in found.patterns] == oracle.patterns(values)
    reported, expected = found.lengths, oracle.lengths(values)
    assert (reported is None) is (expected is None)
    if reported and expected:
        assert reported[:2] == expected[:2]
        assert reported[2] == pytest.approx(expected[2], rel=1e-9)


def check_numbers(found: ColumnProfile, values: list[Any], data_type: str) -> None:
    if data_type not in NUMBERS:
        assert (found.mean, found.deviation) == (None, None)
    else:
        near(found.mean, oracle.mean(values), values)
        near(found.deviation, oracle.deviation(values), values)
    if data_type in ("boolean", "string"):
        assert found.quantiles == {}
        return
    expected = oracle.quantiles(values)
    assert list(found.quantiles) == list(expected)
    for share, value in expected.items():
        same_place(found.quantiles[share], value, data_type)


def near(message: float | None, expected: float | None, values: list[Any]) -> None:
    """Where numbers reach the end of what a double holds, a mean of them may be told or not."""
    numbers = [abs(float(value)) for value in oracle.placed(values)]
    largest = max(numbers, default=0.0)
    if largest > 1e150:
        assert message is None or math.isfinite(message)
    elif expected is None:
        assert message is None
    else:
        assert message == pytest.approx(expected, rel=1e-9, abs=largest * 1e-12)


def same_place(expected: Any, value: Any, data_type: str) -> None:
    """Doubles hold 53 digits: a large number, or a far time, is told to about as many."""
    if data_type in NUMBERS:
        assert float(expected) == pytest.approx(float(value), rel=1e-11)
    elif data_type == "date":
        assert expected == oracle.profile_text(value, data_type)
    elif expected is not None:
        text = expected.removesuffix("Z")
        apart = oracle.micros(datetime.fromisoformat(text)) - oracle.micros(value)
        assert abs(apart) <= 32


def check_sketches(found: ColumnProfile, values: list[Any]) -> None:
    by_kind = {sketch.kind: sketch for sketch in found.sketches}
    hashed = set(oracle.present(values)) - {""}  # DataSketches takes an empty text for nothing
    assert distinct_in(by_kind["hll"]) == pytest.approx(len(hashed), abs=0.01)
    if "kll" in by_kind:
        held = quantiles_in(by_kind["kll"], [0.0, 1.0])
        places = oracle.placed(values)
        assert bool(held) is bool(places)

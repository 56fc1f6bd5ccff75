from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeguard_sdk.core.canonical_json import (
    canonical_data,
    canonical_json,
    content_hash,
    unordered_hash,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (333333333.33333329, "333333333.3333333"),
        (1e30, "1e+30"),
        (4.5, "4.5"),
        (2e-3, "0.002"),
        (1e-27, "1e-27"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (-0.0, "0"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (123456789012345680.0, "123456789012345680"),
        (2**53, "9007199254740992"),
        (2**53 + 1, '"9007199254740993"'),
        (Decimal("1.50"), '"1.50"'),
        (date(2026, 1, 31), '"2026-01-31"'),
        (datetime(2026, 1, 31, tzinfo=UTC), '"2026-01-31T00:00:00.000000Z"'),
        ("€$\u000f\nA'B\"\\", '"€$\\u000f\\nA\'B\\"\\\\"'),
        ({"b": None, "a": [True, False]}, '{"a":[true,false],"b":null}'),
    ],
)
def test_a_value_has_one_text(value: Any, text: str) -> None:
    assert canonical_json(value) == text


def test_keys_are_sorted_by_utf16_as_the_rfc_says() -> None:
    assert canonical_json({"\ufb33": 1, "\U0001f600": 2}) == '{"\U0001f600":2,"\ufb33":1}'


@pytest.mark.parametrize("value", [math.nan, math.inf, object(), {1: 2}, {"a": {1, 2}}, b"x"])
def test_what_has_no_canonical_form_is_refused(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        canonical_json(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_comes_back_exactly(value: float) -> None:
    assert float(canonical_json(value)) == value


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(_JSON)
def test_canonical_text_is_json_and_stays_the_same(value: Any) -> None:
    text = canonical_json(value)
    assert json.loads(text) == value
    assert canonical_json(json.loads(text)) == text


@given(st.lists(st.text(), unique=True), st.randoms())
def test_an_unordered_hash_does_not_see_order(items: list[str], random: Any) -> None:
    shuffled = list(items)
    random.shuffle(shuffled)
    assert unordered_hash(items) == unordered_hash(shuffled)


def test_the_same_moment_in_another_zone_has_the_same_hash() -> None:
    here = datetime(2026, 1, 31, 2, tzinfo=timezone(timedelta(hours=2)))
    assert content_hash(here) == content_hash(here.astimezone(UTC))


_DATA = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=[])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(_DATA)
def test_the_quick_way_writes_the_same_bytes(data: Any) -> None:
    assert canonical_data(data) == canonical_json(data)


@pytest.mark.parametrize(
    "data",
    [
        1, -0.0, 1e21, [2**53 + 1], {"a": 1.0}, {"\ufb33": "x", "\U0001f600": "y"}, "\x7f\u2028",
        {"a": ",1", "b": "[-2"}, {"é": {"b": [], "a": {}}}, "\ud800", ["\ud83d\ude00"],
    ],
)  # fmt: skip
def test_what_the_encoders_write_differently_goes_the_long_way(data: Any) -> None:
    assert canonical_data(data) == canonical_json(data)


@pytest.mark.parametrize("data", [math.nan, math.inf, object(), {"a": {1, 2}}, b"x"])
def test_the_quick_way_refuses_what_the_long_way_refuses(data: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        canonical_data(data)

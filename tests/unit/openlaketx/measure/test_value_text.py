"""Values have one spelling in evidence."""

from __future__ import annotations

from decimal import Decimal

import pytest

from openlaketx.measure.sql import value_text


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (0.1 + 0.2, 0.3),
        (-0.0, 0.0),
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        (123456789.1234567, 123456789.123),
        (1e300, 1e300),
    ],
)
def test_sums_and_means_of_doubles(value: float | None, expected: object) -> None:
    assert value_text.rounded(value) == expected
    assert str(value_text.rounded(-0.0)) == "0.0"


def test_extremes_of_doubles_are_themselves() -> None:
    assert value_text.double(123456789.1234567) == 123456789.1234567
    assert value_text.double(float("nan")) == "NaN"
    assert str(value_text.double(-0.0)) == "0.0"
    assert value_text.double(None) is None


@pytest.mark.parametrize(
    ("value", "expected"), [(None, None), (2**53, 2**53), (2**53 + 1, str(2**53 + 1)), (-5, -5)]
)
def test_integers(value: int | None, expected: object) -> None:
    assert value_text.whole(value) == expected


def test_decimals_keep_every_digit() -> None:
    digits = "12345678901234567890.123456789012345678"
    assert value_text.exact(Decimal(digits), 18) == digits
    assert value_text.exact(Decimal("1E+3"), 0) == "1000"
    assert value_text.exact(None, 2) is None


@pytest.mark.parametrize("handed", ["1E-8", "1.0E-8", "0.00000001", "0.000000010"])
def test_a_decimal_has_one_spelling_whichever_engine_hands_it_over(handed: str) -> None:
    assert value_text.exact(Decimal(handed), 8) == "0.00000001"


def test_the_mean_is_divided_once() -> None:
    assert value_text.mean(Decimal("0.3"), 3) == 0.1
    assert value_text.mean(2**63 - 1, 1) == float(f"{2**63 - 1:.12g}")
    assert value_text.mean(None, 0) is None


def test_times() -> None:
    assert value_text.instant(0) == "1970-01-01T00:00:00.000000Z"
    assert value_text.local_instant(1) == "1970-01-01T00:00:00.000001"
    assert value_text.day(-719_162) == "0001-01-01"
    for beyond in (value_text.instant, value_text.day):
        with pytest.raises(OverflowError):
            beyond(2**62)

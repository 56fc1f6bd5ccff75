"""Operand and result types of arithmetic, so that every engine computes the same digits.

Exact numbers are computed as decimals wide enough for every result, up to 38 digits; beyond that,
integer digits are dropped, and a value that needs them raises. With a float or double on either
side, both become doubles.
"""

from __future__ import annotations

from dataclasses import dataclass

from lakeguard_sdk.expressions.conditions import Arithmetic
from lakeguard_sdk.types.plain_types import FLOATS, decimal_size

WIDEST = 38
_FEWEST = 6
"""Minimum integer digits of an operand; with fewer, hardly any value would have a result."""
_MOST_OF_SPARKS_ABS = 34
"""Spark's ``abs`` rounds numbers with more digits."""
_DIGITS = {"byte": 3, "short": 5, "integer": 10, "long": 19}


@dataclass(frozen=True)
class ArithmeticTypes:
    """Types of the cast operands and of the result."""

    left: str
    right: str
    result: str


class NotExact(ValueError):
    """The operation has no exact result."""


def exact_size(data_type: str) -> tuple[int, int] | None:
    """Digits before and after the decimal point of an exact type."""
    if data_type in _DIGITS:
        return _DIGITS[data_type], 0
    size = decimal_size(data_type)
    return None if size is None else (size[0] - size[1], size[1])


def exact_type(whole: int, scale: int) -> str:
    return f"decimal({max(1, whole + scale)},{scale})"


def arithmetic_types(op: Arithmetic, left: str, right: str) -> ArithmeticTypes:
    """Types of an operation on two numbers.

    Raises NotExact if one is not a number, or if 38 digits are too few.
    """
    for data_type in (left, right):
        if data_type not in FLOATS and exact_size(data_type) is None:
            raise NotExact(f"{op} is for numbers, and this is {data_type}")
    one, other = exact_size(left), exact_size(right)
    if op is Arithmetic.DIVIDE or one is None or other is None:
        return ArithmeticTypes("double", "double", "double")
    if op is Arithmetic.MULTIPLY:
        return _product(one, other)
    whole, scale = max(one[0], other[0]), max(one[1], other[1])
    if op is Arithmetic.REMAINDER:
        same = exact_type(min(whole, WIDEST - scale), scale)
        return ArithmeticTypes(same, same, same)
    # one digit is reserved for the carry: an engine would take it from the scale
    room = WIDEST - 1 - scale
    if room < min(whole, _FEWEST):
        raise _too_fine(scale)
    whole = min(whole, room)
    operand = exact_type(whole, scale)
    return ArithmeticTypes(operand, operand, exact_type(whole + 1, scale))


def _product(one: tuple[int, int], other: tuple[int, int]) -> ArithmeticTypes:
    """Drops digits of the operand with more integer digits; integers need not."""
    scale = one[1] + other[1]
    left, right = one[0], other[0]
    if scale == 0:
        result = exact_type(min(left + right + 1, WIDEST), 0)
        return ArithmeticTypes(exact_type(left, 0), exact_type(right, 0), result)
    room = WIDEST - 1 - scale
    if room < min(left, _FEWEST) + min(right, _FEWEST):
        raise _too_fine(scale)
    while left + right > room:
        left, right = (left - 1, right) if left >= right else (left, right - 1)
    return ArithmeticTypes(
        exact_type(left, one[1]), exact_type(right, other[1]), exact_type(left + right + 1, scale)
    )


def absolute_type(data_type: str) -> str:
    """The type in which the sign of a number is dropped; NotExact where it is too fine."""
    size = exact_size(data_type)
    if size is None:
        return "double"
    whole, scale = size
    room = _MOST_OF_SPARKS_ABS - scale
    if room < min(whole, _FEWEST):
        raise _too_fine(scale)
    return exact_type(min(whole, room), scale)


def _too_fine(scale: int) -> NotExact:
    return NotExact(
        f"{scale} digits behind the point leave too few of {WIDEST} before it:"
        " round first, or reckon with double()"
    )

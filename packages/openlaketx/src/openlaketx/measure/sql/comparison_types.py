"""The common type in which both operands of a comparison are exact in every engine."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from lakeguard_sdk.expressions.conditions import (
    ElementCount,
    Length,
    Scalar,
    Value,
)
from lakeguard_sdk.types.schema import (
    FLOATS,
    INTEGERS,
    decimal_size,
    is_numeric,
)

WIDEST = 38
HUGE = "huge"
"""An integer that no integer column type can represent."""

_BITS = {"byte": 7, "short": 15, "integer": 31, "long": 63}
_DIGITS = {"byte": 3, "short": 5, "integer": 10, "long": 19, HUGE: WIDEST}
_TIMES = ("date", "timestamp_ntz", "timestamp")


def common_type(left: str, right: str) -> str:
    """The type in which both sides are exact; ValueError if there is none."""
    if left == right and left != "float":
        return left
    if {left, right} <= {*INTEGERS, HUGE}:
        order = (*INTEGERS, HUGE)
        return max(left, right, key=order.index)
    if left in _TIMES and right in _TIMES:
        return max(left, right, key=_TIMES.index)
    if _number(left) and _number(right):
        if left in FLOATS or right in FLOATS:
            return "double"
        return _common_decimal(left, right)
    raise ValueError(f"{left} and {right} cannot be compared")


def operand_type(operand: Scalar) -> str:
    """The type of an operand; a literal too large for its column's type gets a wider one."""
    match operand:
        case Length() | ElementCount():
            return "long"
        case Value(type=data_type, text=text) if data_type in INTEGERS:
            fits = -(2 ** _BITS[data_type]) <= int(text) < 2 ** _BITS[data_type]
            return data_type if fits else HUGE
        case Value(type=data_type, text=text) if decimal_size(data_type):
            return _decimal_type(text, data_type)
        case _:
            return operand.type


def _common_decimal(left: str, right: str) -> str:
    sizes = [_size(left), _size(right)]
    scale = max(size[1] for size in sizes)
    digits = max(size[0] - size[1] for size in sizes)
    if scale + digits > WIDEST:
        raise ValueError(f"{left} and {right} cannot be compared exactly")
    return f"decimal({scale + digits},{scale})"


def _size(data_type: str) -> tuple[int, int]:
    return decimal_size(data_type) or (_DIGITS[data_type], 0)


def _number(data_type: str) -> bool:
    return data_type == HUGE or is_numeric(data_type)


def _decimal_type(text: str, data_type: str) -> str:
    """The column's type, widened if the literal does not fit."""
    try:
        whole, _, fraction = format(Decimal(text).copy_abs(), "f").partition(".")
    except InvalidOperation:
        raise ValueError(f"{text!r} is not a decimal") from None
    digits, scale = len(whole.lstrip("0")), len(fraction.rstrip("0"))
    return _common_decimal(f"decimal({digits + scale or 1},{scale})", data_type)

"""Which columns can be compared so that every engine gives the same answer."""

from __future__ import annotations

from lakeguard_sdk.expression import Comparison
from lakeguard_sdk.schema import FLOATS, INTEGERS, decimal_size, is_nested

_DIGITS = {"byte": 3, "short": 5, "integer": 10, "long": 19}
_EXACT_IN_DOUBLE = ("byte", "short", "integer", "float", "double")
_WIDEST_DECIMAL = 38


def comparable(left: str, right: str) -> bool:
    """Whether values of the two types can be compared without losing digits on the way."""
    if any(kind == "binary" or is_nested(kind) for kind in (left, right)):
        return False
    if left == right or (left in INTEGERS and right in INTEGERS):
        return True
    if left in FLOATS or right in FLOATS:
        return "double" in (left, right) and {left, right} <= {*_EXACT_IN_DOUBLE}
    one, other = _as_decimal(left), _as_decimal(right)
    if one is None or other is None:
        return False
    whole = max(one[0] - one[1], other[0] - other[1])
    return whole + max(one[1], other[1]) <= _WIDEST_DECIMAL


def orderable(data_type: str, op: Comparison) -> bool:
    """Booleans and the like are equal or not; they have no order to rely on."""
    return op in (Comparison.EQ, Comparison.NE) or data_type not in ("boolean", "binary")


def _as_decimal(data_type: str) -> tuple[int, int] | None:
    if data_type in INTEGERS:
        return _DIGITS[data_type], 0
    return decimal_size(data_type)

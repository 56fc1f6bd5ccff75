"""Which types every engine compares alike."""

from __future__ import annotations

from lakeguard_sdk.expressions.arithmetic_types import WIDEST, exact_size, exact_type
from lakeguard_sdk.expressions.conditions import Comparison
from lakeguard_sdk.types.schema import FLOATS, INTEGERS, is_nested

_EXACT_IN_DOUBLE = ("byte", "short", "integer", "float", "double")


def comparable(left: str, right: str) -> bool:
    """Whether values of the two types can be compared without losing digits."""
    if any(kind == "binary" or is_nested(kind) for kind in (left, right)):
        return False
    if left == right or (left in INTEGERS and right in INTEGERS):
        return True
    if left in FLOATS or right in FLOATS:
        return "double" in (left, right) and {left, right} <= {*_EXACT_IN_DOUBLE}
    one, other = exact_size(left), exact_size(right)
    if one is None or other is None:
        return False
    return max(one[0], other[0]) + max(one[1], other[1]) <= WIDEST


def shared_type(left: str, right: str) -> str | None:
    """The common type of both; None if they are not comparable."""
    if left == right:
        return "double" if left == "float" else left
    if not comparable(left, right):
        return None
    if left in INTEGERS and right in INTEGERS:
        return max(left, right, key=INTEGERS.index)
    one, other = exact_size(left), exact_size(right)
    if one is None or other is None:
        return "double"
    return exact_type(max(one[0], other[0]), max(one[1], other[1]))


def orderable(data_type: str, op: Comparison) -> bool:
    """Booleans and similar types support equality only."""
    return op in (Comparison.EQ, Comparison.NE) or data_type not in ("boolean", "binary")

"""Aggregates of plain Python values, as evidence would hold them."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from lakeguard_sdk.expressions.measures import AggregateFunction, MeasureValue
from lakeguard_sdk.types.schema import FLOATS, decimal_size
from openlaketx.measure.sql.value_text import double, rounded, whole
from tests.property.measure.oracle import double_sum
from tests.property.measure.scalar_oracle import order

TOO_WIDE = "too many digits"


def total(function: AggregateFunction, values: list[Any], data_type: str) -> MeasureValue:
    """TOO_WIDE for a sum that no engine can hold."""
    if not values:
        return None
    if function in (AggregateFunction.MIN, AggregateFunction.MAX):
        chosen = min if function is AggregateFunction.MIN else max
        return _told(chosen(values, key=order), data_type)
    if data_type in FLOATS:
        if all(map(math.isfinite, values)) and math.isinf(sum(map(abs, values))):
            return TOO_WIDE
        found = double_sum(values)
        return rounded(found if function is AggregateFunction.SUM else found / len(values))
    added = sum((Fraction(value) for value in values), Fraction(0))
    _, scale = decimal_size(data_type) or (38, 0)
    if sum(abs(Fraction(value)) for value in values) >= 10 ** (38 - scale):
        return TOO_WIDE
    if function is AggregateFunction.MEAN:
        return rounded(float(added / len(values)))
    with localcontext(prec=90):
        return _told(Decimal(added.numerator) / added.denominator, data_type)


def agree(found: MeasureValue, expected: MeasureValue, values: list[Any]) -> bool:
    """Equal; sums of doubles as near as adding in any order comes."""
    if isinstance(found, float) and isinstance(expected, float):
        size = sum(abs(float(value)) for value in values)
        return math.isclose(found, expected, rel_tol=1e-11, abs_tol=1e-11 * min(size, 1e308))
    return found == expected


def _told(value: Any, data_type: str) -> MeasureValue:
    if data_type in FLOATS:
        return double(value)
    size = decimal_size(data_type)
    if size is None:
        return whole(int(value))
    with localcontext(prec=90):
        return format(Decimal(value).quantize(Decimal(1).scaleb(-size[1])), "f")

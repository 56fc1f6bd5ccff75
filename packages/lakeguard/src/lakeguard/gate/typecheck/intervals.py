"""Interval arithmetic over exact numbers: never too narrow, wider if the result is unknown."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from itertools import product
from typing import NamedTuple

from lakeguard.gate.grammar.literals import EXACT
from lakeguard_sdk.expressions.conditions import Arithmetic, Comparison

_DOWN = Context(prec=60, rounding=ROUND_FLOOR)
_UP = Context(prec=60, rounding=ROUND_CEILING)


class Interval(NamedTuple):
    """Inclusive ends; None is open. NaN is above every number."""

    low: Decimal | None = None
    high: Decimal | None = None


ANYWHERE = Interval()
ZERO = Interval(Decimal(0), Decimal(0))
NEVER_NEGATIVE = Interval(Decimal(0))


def only(number: Decimal) -> Interval:
    return Interval(number, number)


def is_never_negative(of: Interval) -> bool:
    return of.low is not None and of.low >= 0


def absolute(of: Interval) -> Interval:
    """The possible absolute values."""
    low, high = of
    if low is not None and low >= 0:
        return of
    if low is None or high is None:
        return NEVER_NEGATIVE
    least = high.copy_abs() if high < 0 else Decimal(0)
    return Interval(least, max(low.copy_abs(), high.copy_abs()))


def either(one: Interval, other: Interval) -> Interval:
    """The smallest interval around both."""
    low = None if one.low is None or other.low is None else min(one.low, other.low)
    high = None if one.high is None or other.high is None else max(one.high, other.high)
    return Interval(low, high)


def narrower(one: Interval, other: Interval) -> Interval:
    """What both allow."""
    lows = [end for end in (one.low, other.low) if end is not None]
    highs = [end for end in (one.high, other.high) if end is not None]
    return Interval(max(lows, default=None), min(highs, default=None))


def widened(of: Interval, share: Decimal) -> Interval:
    """Each end moved outwards by a share of itself."""
    low, high = of
    return Interval(
        None if low is None else EXACT.subtract(low, EXACT.multiply(low.copy_abs(), share)),
        None if high is None else EXACT.add(high, EXACT.multiply(high.copy_abs(), share)),
    )


def arithmetic_interval(op: Arithmetic, one: Interval, other: Interval) -> Interval:
    """Where an operation has a result; ``/`` and ``%`` have none for a divisor of 0."""
    match op:
        case Arithmetic.ADD:
            return Interval(_sum(one.low, other.low), _sum(one.high, other.high))
        case Arithmetic.SUBTRACT:
            return Interval(_sum(one.low, other.high, -1), _sum(one.high, other.low, -1))
        case Arithmetic.MULTIPLY:
            return _product(one, other)
        case Arithmetic.DIVIDE:
            return _quotient(one, other)
        case Arithmetic.REMAINDER:
            return remainder(one, other, Decimal(0))


def _sum(one: Decimal | None, other: Decimal | None, sign: int = 1) -> Decimal | None:
    if one is None or other is None:
        return None
    return EXACT.add(one, other) if sign > 0 else EXACT.subtract(one, other)


def _product(one: Interval, other: Interval) -> Interval:
    ends = [end for end in (*one, *other) if end is not None]
    if len(ends) < 4:
        positive = is_never_negative(one) and is_never_negative(other)
        return NEVER_NEGATIVE if positive else ANYWHERE
    found = [EXACT.multiply(left, right) for left, right in product(ends[:2], ends[2:])]
    return Interval(min(found), max(found))


def _quotient(one: Interval, other: Interval) -> Interval:
    if other.low is None or other.low <= 0:
        if other.high is not None and other.high < 0:
            return _quotient(_negated(one), _negated(other))
        positive = is_never_negative(one) and is_never_negative(other)
        return NEVER_NEGATIVE if positive else ANYWHERE
    least, most = other
    low, high = one
    return Interval(
        None if low is None else _divided(_DOWN, low, least if low < 0 else most),
        None if high is None else _divided(_UP, high, least if high > 0 else most),
    )


def _divided(rounding: Context, number: Decimal, by: Decimal | None) -> Decimal:
    """Towards 0 without a divisor: it may be as large as it likes."""
    return Decimal(0) if by is None else rounding.divide(number, by)


def _negated(of: Interval) -> Interval:
    low, high = of
    return Interval(
        None if high is None else high.copy_negate(), None if low is None else low.copy_negate()
    )


def remainder(one: Interval, other: Interval, step: Decimal) -> Interval:
    """It has the sign of the dividend, is not larger, and smaller than the divisor: by at least
    ``step``, if both are multiples of it."""
    by = absolute(other).high
    most = None if by is None or by < step else EXACT.subtract(by, step)
    low, high = one
    found = Interval(None if most is None else most.copy_negate(), most)
    return narrower(
        found,
        Interval(
            None if low is None else min(low, Decimal(0)),
            None if high is None else max(high, Decimal(0)),
        ),
    )


# Comparisons of intervals.


def compare_intervals(op: Comparison, one: Interval, other: Interval) -> bool | None:
    """The result of a comparison of any two of their numbers; None if it varies."""
    match op:
        case Comparison.GE:
            return _below(other, one, strict=False)
        case Comparison.LE:
            return _below(one, other, strict=False)
        case Comparison.LT:
            return _below(one, other, strict=True)
        case Comparison.GT:
            return _below(other, one, strict=True)
    if True in (_below(one, other, strict=True), _below(other, one, strict=True)):
        return op is Comparison.NE
    same = None not in one and one.low == one.high == other.low == other.high
    return (op is Comparison.EQ) if same else None


def _below(one: Interval, other: Interval, *, strict: bool) -> bool | None:
    """Whether every number of one is below (or not above) every number of the other; None if that
    varies."""
    if _before(one.high, other.low, equal=not strict):
        return True
    return False if _before(other.high, one.low, equal=strict) else None


def _before(high: Decimal | None, low: Decimal | None, *, equal: bool) -> bool:
    if high is None or low is None:
        return False
    return high < low or (equal and high == low)

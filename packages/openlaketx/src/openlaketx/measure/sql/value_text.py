"""Values as stored in evidence: one format for every engine and for footers."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal
from fractions import Fraction

from lakeguard_sdk.core.canonical_json import format_instant
from lakeguard_sdk.expressions.measures import MeasureValue

DIGITS = 12
_SAFE_INTEGER = 2**53
_EVERY_DIGIT = Context(prec=80)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def whole(value: int | None) -> MeasureValue:
    """An integer; as text beyond 2**53, where JSON would lose digits."""
    if value is None:
        return None
    return int(value) if abs(value) <= _SAFE_INTEGER else str(int(value))


def double(value: float | None) -> MeasureValue:
    """The double; as text if JSON cannot represent it."""
    if value is None:
        return None
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value + 0.0


def rounded(value: float | None) -> MeasureValue:
    """Twelve significant digits, so that the order of addition does not matter."""
    number = double(value)
    return float(f"{number:.{DIGITS}g}") + 0.0 if isinstance(number, float) else number


def exact(value: Decimal | None, scale: int) -> MeasureValue:
    """As many decimal places as the type's scale: Spark returns 1E-8 as 1.0E-8."""
    if value is None:
        return None
    return format(value.quantize(Decimal(1).scaleb(-scale), context=_EVERY_DIGIT), "f")


def mean(total: int | Decimal | None, count: int) -> MeasureValue:
    """The exact quotient, rounded once."""
    return rounded(float(Fraction(total) / count)) if count and total is not None else None


def day(days: int | None) -> MeasureValue:
    """Days since 1970 as an ISO date; OverflowError outside the years 1 to 9999."""
    return None if days is None else (date(1970, 1, 1) + timedelta(days=days)).isoformat()


def instant(micros: int | None) -> MeasureValue:
    """Microseconds since 1970, UTC; OverflowError outside the years 1 to 9999."""
    return None if micros is None else format_instant(_EPOCH + timedelta(microseconds=micros))


def local_instant(micros: int | None) -> MeasureValue:
    """The same for a timestamp without time zone."""
    text = instant(micros)
    return None if text is None else str(text).removesuffix("Z")

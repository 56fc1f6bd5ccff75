"""Exact values out of evidence and out of typed literals."""

from __future__ import annotations

import math
import struct
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation

from lakeguard.gate.typecheck.checks import Scalar
from lakeguard_sdk.expressions.measures import MeasureValue
from lakeguard_sdk.types.schema import FLOATS, is_numeric

_SIGNIFICANT = 12
NAN = Decimal("NaN")


class NotAValue(Exception):
    """Evidence holds something that is no value of the measure's type."""


def as_scalar(value: MeasureValue, data_type: str) -> Scalar | None:
    """The value that evidence holds, exactly; None is no value, NaN a Decimal of its own."""
    if value is None:
        return None
    try:
        if is_numeric(data_type):
            return _number(value, data_type)
        if data_type == "date" and isinstance(value, str):
            return date.fromisoformat(value)
        if data_type in ("timestamp", "timestamp_ntz") and isinstance(value, str):
            return _time(value)
    except (ValueError, OverflowError, InvalidOperation):
        pass
    raise NotAValue(f"{value!r:.60} is no {data_type}")


def as_count(value: MeasureValue) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise NotAValue(f"{value!r:.60} is no number of rows")


def at_evidence_precision(number: Decimal, data_type: str, *, summed: bool) -> Decimal:
    """A bound as evidence would hold it: sums and means of doubles have 12 significant digits.

    Rounding keeps order, so a value within its bound is never judged to be beyond it.
    """
    value = nearest_float(number, data_type)
    if not math.isfinite(value):
        return number
    return Decimal(repr(float(f"{value:.{_SIGNIFICANT}g}") if summed else value))


def nearest_float(number: Decimal, data_type: str) -> float:
    """The nearest double, or the nearest float as the double it is; infinite beyond both."""
    value = float(number)
    if data_type != "float":
        return value
    try:
        (single,) = struct.unpack("<f", struct.pack("<f", value))
    except OverflowError:
        return math.copysign(math.inf, value)
    return float(single)


def _number(value: int | float | str, data_type: str) -> Decimal:
    if isinstance(value, bool):
        raise NotAValue(f"{value!r} is no {data_type}")
    number = Decimal(repr(value) if isinstance(value, float) else value)
    if not number.is_finite() and data_type not in FLOATS:
        raise NotAValue(f"{value!r:.60} is no {data_type}")
    return NAN if number.is_nan() else number


def _time(text: str) -> datetime:
    """Times without a zone are kept beside UTC: only times of one column are compared."""
    moment = datetime.fromisoformat(text)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)

"""Exact values from evidence and from typed literals."""

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
    """Evidence has a value that does not match the measure's type."""


def as_scalar(value: MeasureValue, data_type: str) -> Scalar | None:
    """The exact value of a measure; None is no value, NaN a Decimal."""
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
    raise NotAValue(f"{value!r:.60} is not a valid {data_type}")


def as_count(value: MeasureValue) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise NotAValue(f"{value!r:.60} is not a row count")


def at_evidence_precision(number: Decimal, data_type: str, *, summed: bool) -> Decimal:
    """A bound at the precision of evidence: sums and means of doubles have 12 significant digits.

    Rounding preserves order, so a value within its bound is never reported as out of bounds.
    """
    value = nearest_float(number, data_type)
    if not math.isfinite(value):
        return number
    return Decimal(repr(float(f"{value:.{_SIGNIFICANT}g}") if summed else value))


def nearest_float(number: Decimal, data_type: str) -> float:
    """The nearest double, or the nearest float as a double; infinite out of range."""
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
        raise NotAValue(f"{value!r} is not a valid {data_type}")
    number = Decimal(repr(value) if isinstance(value, float) else value)
    if not number.is_finite() and data_type not in FLOATS:
        raise NotAValue(f"{value!r:.60} is not a valid {data_type}")
    return NAN if number.is_nan() else number


def _time(text: str) -> datetime:
    """Times without a zone are represented as UTC: only times of one column are compared."""
    moment = datetime.fromisoformat(text)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)

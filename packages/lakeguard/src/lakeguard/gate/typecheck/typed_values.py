"""Literals in the type of a column: exact, or rounded to the nearest equivalent value."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from enum import Enum

from lakeguard.gate.grammar.literals import (
    EXACT,
    Flag,
    Literal_,
    Number,
    Text,
    literal_text,
    number_text,
)
from lakeguard.gate.typecheck.scalars import nearest_float
from lakeguard_sdk.expressions.arithmetic_types import WIDEST, exact_type
from lakeguard_sdk.expressions.conditions import Value
from lakeguard_sdk.types.schema import (
    FLOATS,
    INTEGERS,
    decimal_size,
    is_nested,
    is_numeric,
)

_INTEGER_BITS = {"byte": 8, "short": 16, "integer": 32, "long": 64}
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?"
    r"(Z|[+-][0-9]{2}:[0-9]{2})?\Z"
)


class Rounding(Enum):
    """Which way to round a number that the type cannot represent."""

    NONE = "none"
    UP = ROUND_CEILING
    DOWN = ROUND_FLOOR


class NoSuchValue(Exception):
    """The literal is not a value of the type; the message says why, and what to write."""


class OutOfRange(NoSuchValue):
    """The number is out of the type's range; ``above`` says on which side."""

    def __init__(self, message: str, *, above: bool) -> None:
        self.above = above
        super().__init__(message)


def typed_value(literal: Literal_, data_type: str, rounding: Rounding = Rounding.NONE) -> Value:
    """The literal as a value of ``data_type``; NoSuchValue if it is not one."""
    if is_numeric(data_type):
        if not isinstance(literal, Number):
            raise NoSuchValue(f"{_shown(literal)} is not a valid {data_type}: write a number")
        return Value(type=data_type, text=_number(literal.value, data_type, rounding))
    if data_type == "boolean":
        if not isinstance(literal, Flag):
            raise NoSuchValue(f"{_shown(literal)} is not a valid boolean: write true or false")
        return Value(type=data_type, text=literal_text(literal))
    if data_type == "binary" or is_nested(data_type):
        kind = "binary" if data_type == "binary" else "nested"
        raise NoSuchValue(f"a {kind} column cannot be compared with a value")
    if not isinstance(literal, Text):
        shown = literal_text(literal)
        raise NoSuchValue(f"{shown} is not a valid {data_type}: write it in quotes, as '{shown}'")
    if data_type == "string":
        return Value(type=data_type, text=literal.value)
    return Value(type=data_type, text=_moment(literal.value, data_type))


def literal_type(literal: Literal_) -> str:
    """The type of a literal without a neighbour; numbers are exact."""
    match literal:
        case Number(value=number):
            whole, _, fraction = format(number.copy_abs(), "f").partition(".")
            digits, scale = len(whole.lstrip("0")), len(fraction.rstrip("0"))
            if digits + scale > WIDEST:
                raise NoSuchValue(f"{number_text(number)} has more than {WIDEST} digits")
            return exact_type(digits, scale)
        case Text():
            return "string"
        case Flag():
            return "boolean"


def type_limits(data_type: str) -> tuple[Decimal, Decimal]:
    """The minimum and maximum of an integer or decimal type."""
    if data_type in INTEGERS:
        half = 2 ** (_INTEGER_BITS[data_type] - 1)
        return Decimal(-half), Decimal(half - 1)
    precision, scale = decimal_size(data_type) or (0, 0)
    most = Decimal(10**precision - 1).scaleb(-scale, EXACT)
    return most.copy_negate(), most


def _number(number: Decimal, data_type: str, rounding: Rounding) -> str:
    if data_type in FLOATS:
        return _float_text(number, data_type)
    low, high = type_limits(data_type)
    scale = (decimal_size(data_type) or (0, 0))[1]
    if number.adjusted() <= high.adjusted() + 1:
        quantum = Decimal(1).scaleb(-scale)
        mode = ROUND_FLOOR if rounding is Rounding.NONE else rounding.value
        moved = number.quantize(quantum, mode, EXACT)
        if rounding is Rounding.NONE and moved != number:
            raise NoSuchValue(f"no {data_type} equals {number_text(number)}")
        if low <= moved <= high:
            return format(moved if moved else moved.copy_abs(), "f")
    message = f"{number_text(number)} is out of range for {data_type}"
    raise OutOfRange(message, above=number > 0)


def _float_text(number: Decimal, data_type: str) -> str:
    """The nearest double; for a float column the nearest float, written as a double."""
    value = nearest_float(number, data_type)
    if math.isinf(value):
        raise OutOfRange(f"{number_text(number)} is out of range for {data_type}", above=number > 0)
    return repr(value if value else 0.0)


def _moment(text: str, data_type: str) -> str:
    try:
        if data_type == "date":
            if not _DATE.match(text):
                raise NoSuchValue(f"{text[:40]!r} is not a date: write '2013-12-31'")
            return date.fromisoformat(text).isoformat()
        return _time(text, data_type)
    except (ValueError, OverflowError):
        raise NoSuchValue(f"{text[:40]!r} is not a calendar day") from None


def _time(text: str, data_type: str) -> str:
    """A time without a zone is UTC for a timestamp; a timestamp_ntz has no zone."""
    zone = "Z" if data_type == "timestamp" else ""
    if _DATE.match(text):
        raise NoSuchValue(f"a {data_type} needs a time of day: write '{text}T00:00:00{zone}'")
    if not _TIME.match(text):
        raise NoSuchValue(f"{text[:40]!r} is not a time: write '2013-12-31T00:00:00{zone}'")
    moment = datetime.fromisoformat(text)
    if data_type == "timestamp_ntz":
        if moment.tzinfo is not None:
            raise NoSuchValue("a timestamp_ntz has no zone: remove it")
        return moment.isoformat()
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return zoned.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"


def _shown(literal: Literal_) -> str:
    text = literal_text(literal)
    return text if len(text) <= 40 else text[:37] + "..."

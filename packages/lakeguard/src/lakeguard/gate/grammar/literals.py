"""Literals as written, before a column gives them a type."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Context, Decimal
from typing import Annotated, Literal

from pydantic import Field

from lakeguard_sdk.core.frozen_model import FrozenModel

EXACT = Context(prec=500)
"""Precise enough for every number that the grammar accepts: nothing is rounded."""

MOST_DIGITS = 60
MOST_EXPONENT = 400


class Number(FrozenModel):
    literal: Literal["number"] = "number"
    value: Decimal


class Text(FrozenModel):
    """A quoted text; also an unquoted date, time or duration."""

    literal: Literal["text"] = "text"
    value: str


class Flag(FrozenModel):
    literal: Literal["flag"] = "flag"
    value: bool


Literal_ = Number | Text | Flag
AnyLiteral = Annotated[Literal_, Field(discriminator="literal")]


def number_text(value: Decimal) -> str:
    """Canonical text of a number: plain digits, or ``1.5e30`` where those would be many."""
    if value == 0:
        return "0"
    adjusted = value.adjusted()
    shortest = value.normalize(EXACT)
    if -7 <= adjusted <= 20:
        return format(shortest, "f")
    sign, digits, _ = shortest.as_tuple()
    fraction = "".join(map(str, digits[1:]))
    point = "." if fraction else ""
    return f"{'-' if sign else ''}{digits[0]}{point}{fraction}e{adjusted}"


def literal_text(literal: Literal_) -> str:
    match literal:
        case Number(value=number):
            return number_text(number)
        case Flag(value=flag):
            return "true" if flag else "false"
        case Text(value=text):
            return "'" + text.replace("'", "''") + "'"


MOST_ROWS = 10**11
"""No batch or table has as many rows: a limit at or above it could never be reached."""


# Durations in rules: ``90s``, ``15m``, ``24h``, ``7d``, ``2w``.

_DURATION = re.compile(r"([0-9]{1,6})([smhdw])\Z")
_UNITS = {
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}


def is_duration(text: str) -> bool:
    """Whether the text is a duration greater than zero."""
    found = _DURATION.match(text)
    return found is not None and int(found[1]) > 0


def duration(text: str) -> timedelta:
    """The text must be a duration."""
    found = _DURATION.match(text)
    if found is None:
        raise ValueError(f"{text!r:.40} is not a duration")
    return int(found[1]) * _UNITS[found[2]]


def duration_words(span: timedelta) -> str:
    """In the two largest units that are not zero: ``2 d 3 h``, ``45 s``."""
    rest = abs(span) // timedelta(seconds=1)
    parts = []
    for unit in ("d", "h", "m", "s"):
        count, rest = divmod(rest, _UNITS[unit] // timedelta(seconds=1))
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2]) or "0 s"

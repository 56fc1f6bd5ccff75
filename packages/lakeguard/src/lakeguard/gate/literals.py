"""Literals as they are written, before a column gives them a type."""

from __future__ import annotations

from decimal import Context, Decimal
from typing import Annotated, Literal

from pydantic import Field

from lakeguard_sdk.noun import Noun

EXACT = Context(prec=500)
"""Wide enough for every number that the grammar admits: nothing is rounded by accident."""

MOST_DIGITS = 60
MOST_EXPONENT = 400


class Number(Noun):
    literal: Literal["number"] = "number"
    value: Decimal


class Text(Noun):
    """A quoted text; a bare date, time or duration is one too."""

    literal: Literal["text"] = "text"
    value: str


class Flag(Noun):
    literal: Literal["flag"] = "flag"
    value: bool


Literal_ = Number | Text | Flag
AnyLiteral = Annotated[Literal_, Field(discriminator="literal")]


def number_text(value: Decimal) -> str:
    """The one spelling of a number: plain digits, or ``1.5e30`` where those would be many."""
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

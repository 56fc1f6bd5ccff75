"""Numbers as they are written: exact, and small enough to calculate with."""

from __future__ import annotations

from decimal import Decimal

MAX_DIGITS = 400
MAX_EXPONENT = 999


def exact_number(text: str) -> int | Decimal | None:
    """An int where the text is an integer, else a Decimal; None if it is out of bounds.

    The text is a number already: digits, perhaps with a sign, a point and an exponent.
    """
    digits, mark, exponent = text.lower().partition("e")
    if len(digits) > MAX_DIGITS or len(exponent) > MAX_DIGITS:
        return None
    if mark and abs(int(exponent)) > MAX_EXPONENT:
        return None
    return Decimal(text) if mark or "." in digits else int(digits)

"""Which texts are values of a type, by the letter of the reference and without any engine."""

from __future__ import annotations

from datetime import date
from decimal import ROUND_HALF_UP, Decimal, localcontext

from lakeguard_sdk.types.schema import decimal_size

_BITS = {"byte": 7, "short": 15, "integer": 31, "long": 63}
_DIGITS = "0123456789"


def reads_as(text: str, data_type: str) -> bool:
    if data_type in _BITS:
        return _digits(_unsigned(text)) and -(2 ** _BITS[data_type]) <= int(text) < (
            2 ** _BITS[data_type]
        )
    if data_type == "boolean":
        return text.isascii() and text.lower() in ("true", "false")
    if data_type == "double":
        mantissa, mark, exponent = text.replace("E", "e").partition("e")
        return _plain(mantissa) and (not mark or _digits(_unsigned(exponent)))
    if size := decimal_size(data_type):
        return _plain(text) and _fits(text, *size)
    if data_type == "date":
        return _iso_day(text)
    return _iso_day(text[:10]) and _clock(text[10:], zoned=data_type == "timestamp")


def written_day(text: str, form: str) -> bool:
    """Every part of the format where it belongs, and a day of the calendar."""
    if len(text) != len(form):
        return False
    parts: dict[str, str] = {}
    for char, mark in zip(text, form, strict=True):
        if mark in "yMdHms":
            if char not in _DIGITS:
                return False
            parts[mark] = parts.get(mark, "") + char
        elif char != mark:
            return False
    within = all(
        int(parts.get(mark, "0")) < most for mark, most in (("H", 24), ("m", 60), ("s", 60))
    )
    return within and _iso_day(f"{parts['y']}-{parts['M']}-{parts['d']}")


def right_card(text: str) -> bool:
    """By Luhn: from the right every second digit counts twice, and all are a multiple of 10."""
    if not _digits(text) or not 2 <= len(text) <= 20:
        return False
    total = 0
    for index, digit in enumerate(reversed(text)):
        value = int(digit) * (1 + index % 2)
        total += value // 10 + value % 10
    return total % 10 == 0


def right_iban(text: str) -> bool:
    """A country, 02 to 98 and 11 to 30 signs, which as one number leave 1 by 97."""
    signs = _DIGITS + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    if not 15 <= len(text) <= 34 or any(sign not in signs for sign in text):
        return False
    if any(sign in _DIGITS for sign in text[:2]) or not _digits(text[2:4]):
        return False
    if not 2 <= int(text[2:4]) <= 98:
        return False
    number = "".join(str(signs.index(sign)) for sign in text[4:] + text[:4])
    return int(number) % 97 == 1


def _unsigned(text: str) -> str:
    return text[1:] if text[:1] in ("+", "-") else text


def _digits(text: str) -> bool:
    return text != "" and all(char in _DIGITS for char in text)


def _plain(text: str) -> bool:
    whole, point, fraction = _unsigned(text).partition(".")
    if not point:
        return _digits(whole)
    return (_digits(whole) and (not fraction or _digits(fraction))) or (
        whole == "" and _digits(fraction)
    )


def _fits(text: str, precision: int, scale: int) -> bool:
    with localcontext(prec=max(100, len(text) * 2)):
        number = Decimal(text).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
        return abs(number) < Decimal(10) ** (precision - scale)


def _iso_day(text: str) -> bool:
    if len(text) != 10 or text[4] != "-" or text[7] != "-":
        return False
    parts = (text[:4], text[5:7], text[8:])
    if not all(map(_digits, parts)):
        return False
    year, month, day = map(int, parts)
    try:
        date(year or 4, month, day)  # the year 0 is a leap year, and Python has none
    except ValueError:
        return False
    return True


def _clock(text: str, *, zoned: bool) -> bool:
    if text[:1] not in (" ", "T") or len(text) < 9:
        return False
    clock, rest = text[1:9], text[9:]
    if clock[2] != ":" or clock[5] != ":":
        return False
    parts = (clock[:2], clock[3:5], clock[6:])
    if not all(map(_digits, parts)) or int(parts[0]) > 23 or max(map(int, parts[1:])) > 59:
        return False
    if rest.startswith("."):
        fraction = rest[1:].rstrip("Z").partition("+")[0].partition("-")[0]
        if not _digits(fraction) or len(fraction) > 6:
            return False
        rest = rest[1 + len(fraction) :]
    return rest == "" or (zoned and _zone(rest))


def _zone(text: str) -> bool:
    if text == "Z":
        return True
    hours, colon, minutes = text[1:].partition(":")
    right = text[:1] in ("+", "-") and colon and len(hours) == len(minutes) == 2
    if not right or not _digits(hours) or not _digits(minutes):
        return False
    return int(hours) <= 14 and int(minutes) <= 59

"""Pieces of a file as a message may show them."""

from __future__ import annotations

import re
from decimal import Decimal

from lakeguard_sdk.core.dataset_name import check_word
from lakeguard_sdk.errors import BadName
from lakeguard_sdk.security.secret_values import looks_secret

_LOOKED_AT = 400
_SHOWN = 60
_MASK = "*" * 8


def shown(text: str) -> str:
    """On one line, not long, and hidden altogether where it looks like a secret."""
    if looks_secret(text[:_LOOKED_AT]):
        return _MASK
    line = "".join(c if c.isprintable() else " " for c in text[:_SHOWN])
    return line if len(text) <= _SHOWN else f"{line}…"


def counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


# Names for what rows call otherwise: one rule each, and nothing is guessed.

_APART = re.compile(r"[^a-z0-9]+")
_OWN_ID = re.compile(r"(?:ds|src|tgt|job)_[0-9A-HJKMNP-TV-Z]{26}")


def is_word(text: str) -> bool:
    try:
        check_word(text)
    except BadName:
        return False
    return True


def clean_word(text: str) -> str | None:
    """``OpenCellID Raw`` as ``opencellid_raw``; None where no name comes of it.

    A text that is a name already stays as it is. Else letters become lower case, whatever is
    neither letter nor digit becomes one underscore, and none stands at an end. Characters
    beyond ASCII are never dropped: such a text has no name.
    """
    if is_word(text):
        return text
    name = _APART.sub("_", text.lower()).strip("_")
    return name if text.isascii() and is_word(name) else None


def is_own_id(text: str) -> bool:
    """Whether the registry itself gave this id, so that it is no other system's."""
    return _OWN_ID.fullmatch(text) is not None


# Numbers as they are written: exact, and small enough to calculate with.

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

"""JSON as rules have it: one reading of a text, whichever engine holds it.

Strict where readers differ: a key stands once in an object, NaN and Infinity are no numbers, and
an escaped half of a character is no character. What no reader can be asked to take in fails too:
values nested too deeply, and numbers of too many digits.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any, NoReturn

DEEPEST = 200
MOST_DIGITS = 1_000
"""Of a number, and of what an exponent would write out."""

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_OPENING, _CLOSING = "[{", "]}"


class NotJson(ValueError):
    """Says why a text is not JSON, and never what is in it."""


def read_json(text: str) -> Any:
    """The value that a text stands for, its numbers exact; NotJson where it stands for none."""
    if text.count("[") + text.count("{") > DEEPEST and _depth(text) > DEEPEST:
        raise NotJson(f"nested more than {DEEPEST} levels deep")
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise NotJson(f"{error.msg} at character {error.pos + 1}") from None
    if _HALF.search(text):
        _refuse_halves(value)
    return value


def _depth(text: str) -> int:
    deepest = now = 0
    for mark in _QUOTED.sub("", text):
        now += (mark in _OPENING) - (mark in _CLOSING)
        deepest = max(deepest, now)
    return deepest


def _refuse_halves(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        raise NotJson("half of a character is escaped") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise NotJson("a key stands twice in an object")
    return found


def _whole(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise NotJson(f"a number has more than {MOST_DIGITS:,} digits")
    return int(text)


def _number(text: str) -> Decimal:
    exponent = text.lower().partition("e")[2]
    if len(text) > MOST_DIGITS or abs(int(exponent or "0")) > MOST_DIGITS:
        raise NotJson(f"a number has more than {MOST_DIGITS:,} digits")
    return Decimal(text)


def _no_number(word: str) -> NoReturn:
    raise NotJson("NaN and Infinity are no numbers of JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_once, parse_int=_whole, parse_float=_number, parse_constant=_no_number
)

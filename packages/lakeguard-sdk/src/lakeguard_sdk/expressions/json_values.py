"""Strict JSON parser for rules, the same for every engine.

Refuses what parsers disagree on: duplicate keys, NaN and Infinity, lone escaped surrogates. Values
nested too deeply and numbers with too many digits fail too.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any, NoReturn

DEEPEST = 200
MOST_DIGITS = 1_000
"""Maximum digits of a number, and maximum exponent."""

_QUOTED = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
"""A string. One that is not closed matches up to the end, which keeps the search linear."""
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_OPENING, _CLOSING = "[{", "]}"


class NotJson(ValueError):
    """The text is not valid JSON; the message never contains it."""


def read_json(text: str) -> Any:
    """Parses JSON with exact numbers; raises NotJson if it is invalid."""
    if text.count("[") + text.count("{") > DEEPEST and _depth(text) > DEEPEST:
        raise NotJson(f"nested more than {DEEPEST} levels deep")
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise NotJson(f"{error.msg} at character {error.pos + 1}") from None
    if _HALF.search(text):
        _refuse_halves(value)
    return value


def has_more_values(text: str, most: int) -> bool:
    """Checked before parsing: a parsed value takes up to a hundred times the memory of its text."""
    found = _separators(text)
    if found > most:
        found -= sum(_separators(match[0]) for match in _QUOTED.finditer(text))
    return found > most


def _separators(text: str) -> int:
    return text.count(",") + text.count("[") + text.count("{")


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

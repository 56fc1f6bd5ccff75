"""Formats of fixed width in which a text may hold a day, with or without a time of day."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PARTS = {
    "yyyy": r"[0-9]{4}",
    "MM": r"[0-9]{2}",
    "dd": r"[0-9]{2}",
    "HH": r"(?:[01][0-9]|2[0-3])",
    "mm": r"[0-5][0-9]",
    "ss": r"[0-5][0-9]",
}
_PIECE = re.compile(r"yyyy|MM|dd|HH|mm|ss|[ ./:,T_-]")


@dataclass(frozen=True)
class DateFormat:
    """``pattern`` is matched by texts of the right shape, in which year, month and day start at
    the given places, counted from 1."""

    pattern: str
    year: int
    month: int
    day: int


def date_format(text: str) -> DateFormat:
    """The format that a text such as ``dd/MM/yyyy`` says; ValueError if it says none."""
    pieces = _PIECE.findall(text)
    if "".join(pieces) != text:
        raise ValueError("a format is made of yyyy MM dd HH mm ss and of blanks and . / : , - _ T")
    named = [piece for piece in pieces if piece in _PARTS]
    if len(set(named)) != len(named):
        raise ValueError("a part of the format stands twice")
    if not {"yyyy", "MM", "dd"} <= set(named):
        raise ValueError("a format has yyyy, MM and dd in it")
    pattern, places, at = "", {}, 1
    for piece in pieces:
        places[piece] = at
        at += len(piece)
        pattern += _PARTS.get(piece) or f"[{piece}]"
    return DateFormat(pattern, places["yyyy"], places["MM"], places["dd"])

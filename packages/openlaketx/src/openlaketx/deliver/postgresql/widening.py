"""Types of PostgreSQL that hold every value of another type as it is."""

from __future__ import annotations

import re

_WHOLE = {"smallint": 5, "integer": 10, "bigint": 19}
"""Each with the digits of its largest value, the narrowest first."""
_WIDER = {
    "smallint": ("integer", "bigint", "real", "double precision"),
    "integer": ("bigint", "double precision"),
    "real": ("double precision",),
    "date": ("timestamp without time zone", "timestamp with time zone"),
}
"""A day becomes its midnight, in UTC where a zone is asked for."""
_NUMERIC = re.compile(r"numeric\((\d+),(\d+)\)")


def can_hold(wide: str, narrow: str) -> bool:
    """Whether a column of the one type can take every value of the other; both as PostgreSQL
    itself spells them."""
    if wide == narrow or wide in _WIDER.get(narrow, ()):
        return True
    room, needed = _digits(wide), _digits(narrow)
    if room is None or needed is None or wide in _WHOLE:
        return False
    return all(has >= asked for has, asked in zip(room, needed, strict=True))


def _digits(kind: str) -> tuple[int, int] | None:
    """Before and after the point; None for what is no exact number."""
    if kind in _WHOLE:
        return _WHOLE[kind], 0
    found = _NUMERIC.fullmatch(kind)
    return None if found is None else (int(found[1]) - int(found[2]), int(found[2]))

"""Lengths of time as rules write them: ``90s``, ``15m``, ``24h``, ``7d``, ``2w``."""

from __future__ import annotations

import re
from datetime import timedelta

_DURATION = re.compile(r"([0-9]{1,6})([smhdw])\Z")
_UNITS = {
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}


def is_duration(text: str) -> bool:
    """Whether it is one, and longer than nothing."""
    found = _DURATION.match(text)
    return found is not None and int(found[1]) > 0


def duration(text: str) -> timedelta:
    """Of a text that is one."""
    found = _DURATION.match(text)
    if found is None:
        raise ValueError(f"{text!r:.40} is no length of time")
    return int(found[1]) * _UNITS[found[2]]


def duration_words(span: timedelta) -> str:
    """In the largest two units that say something: ``2 d 3 h``, ``45 s``."""
    rest = abs(span) // timedelta(seconds=1)
    told = []
    for unit in ("d", "h", "m", "s"):
        count, rest = divmod(rest, _UNITS[unit] // timedelta(seconds=1))
        if count:
            told.append(f"{count} {unit}")
    return " ".join(told[:2]) or "0 s"

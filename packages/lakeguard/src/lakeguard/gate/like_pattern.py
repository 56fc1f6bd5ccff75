"""The patterns of ``like``: ``%`` is any text, ``_`` one character, ``!`` makes them plain."""

from __future__ import annotations

import re

LONGEST_LIKE = 1000
_PLAIN = re.compile(r"(?:[^!]|![%_!])*\Z", re.DOTALL)


def check_like(pattern: str) -> None:
    """ValueError, with what to write, for what engines read differently or what says nothing."""
    if len(pattern) > LONGEST_LIKE:
        raise ValueError(f"a pattern has at most {LONGEST_LIKE:,} characters")
    if not _PLAIN.match(pattern):
        raise ValueError("! stands before %, _ or !: a ! itself is written !!")
    if pattern and not pattern.strip("%"):
        raise ValueError("every text is like this")

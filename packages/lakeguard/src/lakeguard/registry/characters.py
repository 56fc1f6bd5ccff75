"""Characters that no definition may hold: what cannot be seen cannot be reviewed."""

from __future__ import annotations

import re
import unicodedata

_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, tab, line feed and CR LF aside
    "\u2028\u2029\ufeff"  # line breaks that editors count differently
    "\u202a-\u202e\u2066-\u2069"  # text that reads in another order than it runs
    "\ud800-\udfff\ufffe\uffff]"
    "|\r(?!\n)"
)
_ALLOWED_PAIR = "\r\n"


def forbidden_character(text: str) -> tuple[int, str] | None:
    """Offset and name of the first character that is refused, if there is one."""
    for match in _FORBIDDEN.finditer(text):
        if not text.startswith(_ALLOWED_PAIR, match.start()):
            return match.start(), describe_character(match[0])
    return None


def describe_character(character: str) -> str:
    """``U+202E RIGHT-TO-LEFT OVERRIDE``: safe to print."""
    name = unicodedata.name(character, "a control character")
    return f"U+{ord(character):04X} {name}"


def folded(name: str) -> str:
    """Names with the same folded form look or compare alike somewhere."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def place_of_offset(text: str, offset: int) -> tuple[int, int]:
    """Line and column, both from 1, of a character of a text."""
    start = text.rfind("\n", 0, offset) + 1
    return text.count("\n", 0, offset) + 1, offset - start + 1

"""Plain text from data: control characters escaped, counts with their noun."""

from __future__ import annotations

import unicodedata

_CONTROLS = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp", "Co"})
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def escaped(text: object) -> str:
    """One line; control, format and separator characters are written as escapes, so that data
    cannot steer a terminal or break out of a comment."""
    return "".join(_escape(character) for character in str(text))


def escaped_lines(text: object) -> list[str]:
    """As ``escaped``, line by line."""
    return [escaped(line) for line in str(text).split("\n")]


def plural(count: int, one: str, many: str | None = None) -> str:
    """``1 row``, ``2,000 rows``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def _escape(character: str) -> str:
    if unicodedata.category(character) not in _CONTROLS:
        return character
    if character in _SHORT:
        return _SHORT[character]
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"

"""Text from data made harmless: what a terminal would obey is shown, not sent."""

from __future__ import annotations

import unicodedata

_OBEYED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp", "Co"})
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def inert(text: object) -> str:
    """One line without control, format or separator characters; each is spelt as an escape."""
    return "".join(_spelt(character) for character in str(text))


def inert_lines(text: object) -> list[str]:
    """Like ``inert`` for text that may have lines of its own: each is harmless by itself."""
    return [inert(line) for line in str(text).split("\n")]


def _spelt(character: str) -> str:
    if unicodedata.category(character) not in _OBEYED:
        return character
    if character in _NAMED:
        return _NAMED[character]
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"

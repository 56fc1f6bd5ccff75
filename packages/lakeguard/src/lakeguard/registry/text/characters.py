"""Characters refused in definitions, and names that are easily confused."""

from __future__ import annotations

import re
import unicodedata

_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters except tab, LF and CR LF
    "\u2028\u2029\ufeff"  # line breaks that editors count differently
    "\u202a-\u202e\u2066-\u2069"  # bidirectional overrides
    "\ud800-\udfff\ufffe\uffff]"
    "|\r(?!\n)"
)
_ALLOWED_PAIR = "\r\n"


def forbidden_character(text: str) -> tuple[int, str] | None:
    """Offset and name of the first refused character, or None."""
    for match in _FORBIDDEN.finditer(text):
        if not text.startswith(_ALLOWED_PAIR, match.start()):
            return match.start(), describe_character(match[0])
    return None


def describe_character(character: str) -> str:
    """``U+202E RIGHT-TO-LEFT OVERRIDE``: safe to print."""
    name = unicodedata.name(character, "a control character")
    return f"U+{ord(character):04X} {name}"


def folded(name: str) -> str:
    """Case-folded NFKC form; names that share it are equal on some systems."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


_LIKE_LATIN = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb"  # Cyrillic
    "\u051b\u051d\u043a\u043c\u0442\u0432\u043d\u0433"
    "\u03b1\u03bf\u03c1\u03bd\u03b9\u03ba\u03c5\u03c4\u03c7\u03b3"  # Greek
    "\u0131\u0261\u2019\u2018\u2010\u2011\u2012\u2013\u2014",  # others
    "aeopcyxijsdhqwkmtbhraopvikutxyig''-----",
)


_BESIDE_DIGIT = re.compile(r"(?<=[a-z])_+(?=[0-9])|(?<=[0-9])_+(?=[a-z])")


def look_alike(text: str) -> str:
    """Texts that share this form look the same to a reader."""
    return folded(folded(text).translate(_LIKE_LATIN))


def look_alike_names(name: str) -> tuple[str, str]:
    """Forms of a snake_case name; names that share one are easily confused:
    ``orders_1`` and ``orders1``, ``orders`` and ``orders_``, ``orders_1`` and ``orders_l``.
    """
    tidy = re.sub("_+", "_", name).rstrip("_")
    return _BESIDE_DIGIT.sub("", tidy), tidy.replace("0", "o").replace("1", "l")


def place_of_offset(text: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset, both from 1."""
    start = text.rfind("\n", 0, offset) + 1
    return text.count("\n", 0, offset) + 1, offset - start + 1


_FLAGS = {
    **dict.fromkeys(("true", "t", "1", "y", "yes", "enabled", "active"), True),
    **dict.fromkeys(("false", "f", "0", "n", "no", "disabled", "inactive"), False),
}


def flag_of(text: str) -> bool | None:
    """The boolean a word stands for, ignoring case; None if it is not a flag."""
    return _FLAGS.get(text.strip().lower())

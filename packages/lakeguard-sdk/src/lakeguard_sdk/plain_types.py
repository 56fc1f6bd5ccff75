"""Column types that hold one value: their spelling, and which of them hold another's values."""

from __future__ import annotations

import re

_ALIASES = {
    "int": "integer",
    "bigint": "long",
    "smallint": "short",
    "tinyint": "byte",
    "real": "float",
    "bool": "boolean",
    "text": "string",
}
_PLAIN = frozenset(
    {
        "string",
        "boolean",
        "byte",
        "short",
        "integer",
        "long",
        "float",
        "double",
        "date",
        "timestamp",
        "timestamp_ntz",
        "binary",
    }
)
_DECIMAL = re.compile(r"decimal\(\s*([0-9]{1,2})\s*,\s*([0-9]{1,2})\s*\)\Z")
PLAIN_WORDS = tuple(sorted({*_PLAIN, *_ALIASES, "decimal(p,s)"}))

INTEGERS = ("byte", "short", "integer", "long")
FLOATS = ("float", "double")
TIMES = ("date", "timestamp", "timestamp_ntz")
_DIGITS = {"byte": 3, "short": 5, "integer": 10, "long": 19}


def plain_type(text: str) -> str | None:
    """The one spelling of a plain type, Delta's own; None for what is not one."""
    word = text.strip().lower()
    word = _ALIASES.get(word, word)
    if word in _PLAIN:
        return word
    match = _DECIMAL.match(word)
    if match and 1 <= int(match[1]) <= 38 and int(match[2]) <= int(match[1]):
        return f"decimal({int(match[1])},{int(match[2])})"
    return None


def decimal_size(data_type: str) -> tuple[int, int] | None:
    match = _DECIMAL.match(data_type)
    return (int(match[1]), int(match[2])) if match else None


def is_numeric(data_type: str) -> bool:
    return data_type in INTEGERS or data_type in FLOATS or decimal_size(data_type) is not None


def whole_number_fits(number: str, held: str) -> bool:
    """Whether a decimal has the digits for every value of a whole number."""
    size = decimal_size(held)
    return number in _DIGITS and size is not None and size[0] - size[1] >= _DIGITS[number]


def plain_widens(found: str, declared: str) -> bool:
    """Whether every value of ``found`` has the same meaning as a ``declared``."""
    if found == declared:
        return True
    if found in INTEGERS and declared in INTEGERS:
        return INTEGERS.index(found) <= INTEGERS.index(declared)
    if declared == "double":
        return found in ("float", "byte", "short", "integer")
    small, large = decimal_size(found), decimal_size(declared)
    if small and large:
        return large[1] >= small[1] and large[0] - large[1] >= small[0] - small[1]
    return False

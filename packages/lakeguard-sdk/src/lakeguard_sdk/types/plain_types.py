"""Plain (not nested) column types: names, aliases, and widening between them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

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
    """The canonical name of a plain type, as in Delta; None if it is not one."""
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
    """Whether the decimal type can hold every value of the integer type."""
    size = decimal_size(held)
    return number in _DIGITS and size is not None and size[0] - size[1] >= _DIGITS[number]


def plain_widens(found: str, declared: str) -> bool:
    """Whether every value of ``found`` can be cast to ``declared`` without loss."""
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


# Fixed-width formats of dates, with or without a time of day.

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
    """``pattern`` matches texts in the format; the others are positions in the text, counted from
    1, and 0 for a part of the time that it lacks."""

    pattern: str
    year: int
    month: int
    day: int
    hour: int = 0
    minute: int = 0
    second: int = 0


def date_format(text: str) -> DateFormat:
    """Parses a format such as ``dd/MM/yyyy``; raises ValueError if it is invalid."""
    pieces = _PIECE.findall(text)
    if "".join(pieces) != text:
        raise ValueError("a date format consists of yyyy MM dd HH mm ss, blanks and . / : , - _ T")
    named = [piece for piece in pieces if piece in _PARTS]
    if len(set(named)) != len(named):
        raise ValueError("duplicate part in the date format")
    if not {"yyyy", "MM", "dd"} <= set(named):
        raise ValueError("a date format needs yyyy, MM and dd")
    pattern, places, at = "", {}, 1
    for piece in pieces:
        places[piece] = at
        at += len(piece)
        pattern += _PARTS.get(piece) or f"[{piece}]"
    times = (places.get(part, 0) for part in ("HH", "mm", "ss"))
    return DateFormat(pattern, places["yyyy"], places["MM"], places["dd"], *times)


# Spellings of NULL in a text file: one, or several as a JSON list.


def null_values(text: str) -> list[str]:
    """The texts that mean NULL."""
    if text.startswith('["'):
        try:
            return [str(item) for item in json.loads(text)]
        except ValueError:
            pass
    return [text]

"""How a text spells a value of a type, so that every engine reads it as the same value."""

from __future__ import annotations

from lakeguard_sdk.schema import INTEGERS, decimal_size

_NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?"
_ZONE = r"(?:Z|[+-](?:0[0-9]|1[0-4]):[0-5][0-9])?"
_SPELLINGS = {
    "double": rf"{_NUMBER}(?:[eE][+-]?[0-9]+)?",
    "boolean": r"[tT][rR][uU][eE]|[fF][aA][lL][sS][eE]",
    "date": _DAY,
    "timestamp": rf"{_DAY}[ T]{_TIME}{_ZONE}",
    "timestamp_ntz": rf"{_DAY}[ T]{_TIME}",
}


def spelling_of(data_type: str) -> str:
    """The pattern of such texts; ValueError for a type that no text is cast to."""
    if data_type in INTEGERS:
        return r"[+-]?[0-9]+"
    if decimal_size(data_type):
        return _NUMBER
    found = _SPELLINGS.get(data_type)
    if found is None:
        raise ValueError(f"no text is read as {data_type}")
    return found

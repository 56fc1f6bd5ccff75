"""Canonical JSON and content hashes: the same value has the same bytes everywhere.

RFC 8785 with one addition, because its numbers are doubles: integers beyond 2**53,
decimals and times are written as strings.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime
from decimal import Context, Decimal
from enum import Enum
from json import JSONEncoder
from json.encoder import encode_basestring
from typing import Any

_SAFE_INTEGER = 2**53
_DIGEST = re.compile(r"[0-9a-f]{64}")
_WORDS = {None: "null", True: "true", False: "false"}
_quoted = encode_basestring
_DOUBLE = Context(prec=20)  # enough for any double, independent of the caller's context


def format_instant(value: datetime) -> str:
    """UTC with microseconds in fixed width, so that text order is time order."""
    return value.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def canonical_json(value: Any) -> str:
    parts: list[str] = []
    _write(value, parts.append)
    return "".join(parts)


_plain_json = JSONEncoder(
    ensure_ascii=False, allow_nan=False, check_circular=False, sort_keys=True,
    separators=(",", ":"),
).encode  # fmt: skip
_MAYBE_ODD_NUMBER = re.compile(r'(?:^|":|[\[,])-?(?:[0-9]{16}|[0-9]+[.eE])')
"""A number follows a key, not any colon: that would be every text with a time."""


def canonical_data(data: Any) -> str:
    """A faster ``canonical_json`` for plain JSON data, such as the output of ``to_data``.

    The encoder of the standard library differs only in doubles, long integers, and the order of
    keys beyond the basic plane; its output is used if none of these can occur.
    """
    text = _plain_json(data)
    if _MAYBE_ODD_NUMBER.search(text) or not (text.isascii() or max(text) < "\ud800"):
        return canonical_json(data)
    return text


def content_hash(value: Any) -> str:
    """``sha256:`` followed by the hex digest of the canonical bytes."""
    return hash_bytes(canonical_json(value).encode())


def data_hash(data: Any) -> str:
    """``content_hash`` of plain JSON data."""
    return hash_bytes(canonical_data(data).encode())


def hash_bytes(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def is_sha256(text: str) -> bool:
    """Whether the text is a SHA-256 hex digest."""
    return _DIGEST.fullmatch(text) is not None


def unordered_hash(hashes: Iterable[str]) -> str:
    """One hash of a set of hashes, independent of their order."""
    return data_hash(sorted(hashes))


def _write(value: Any, put: Callable[[str], None]) -> None:
    if type(value) is str:  # fast path: by far the most common type
        put(_quoted(value))
        return
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, str):
        put(_quoted(value))
    elif value is None or isinstance(value, bool):
        put(_WORDS[value])
    elif isinstance(value, Mapping):
        _write_object(value, put)
    elif isinstance(value, list | tuple):
        _write_array(value, put)
    elif isinstance(value, int):
        put(str(value) if abs(value) <= _SAFE_INTEGER else f'"{value}"')
    elif isinstance(value, float):
        put(_number(value))
    elif isinstance(value, Decimal | datetime | date):
        put(_quoted(_text(value)))
    else:
        raise TypeError(f"{type(value).__name__} has no canonical JSON form")


def _write_object(value: Mapping[Any, Any], put: Callable[[str], None]) -> None:
    if not all([isinstance(key, str) for key in value]):  # noqa: C419 - a list is quicker
        raise TypeError("canonical JSON keys are strings")
    separator = "{"
    for key in _in_order(value):
        put(f"{separator}{_quoted(key)}:")
        _write(value[key], put)
        separator = ","
    put("}" if value else "{}")


def _write_array(value: list[Any] | tuple[Any, ...], put: Callable[[str], None]) -> None:
    separator = "["
    for item in value:
        put(separator)
        _write(item, put)
        separator = ","
    put("]" if value else "[]")


def _in_order(keys: Iterable[str]) -> list[str]:
    """RFC 8785 sorts by UTF-16 code units, which only differs beyond ASCII."""
    found = sorted(keys)
    return found if "".join(found).isascii() else sorted(found, key=_utf16_order)


def _utf16_order(text: str) -> bytes:
    return text.encode("utf-16-be")


def _text(value: Decimal | datetime | date) -> str:
    if isinstance(value, datetime):
        return format_instant(value)
    return value.isoformat() if isinstance(value, date) else format(value, "f")


def _number(value: float) -> str:
    """ECMAScript's text of a double: shortest digits, exponent from 1e21 and below 1e-6."""
    if not math.isfinite(value):
        raise ValueError("canonical JSON has no NaN and no infinity")
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(value)).normalize(_DOUBLE).as_tuple()
    text = "".join(map(str, digits))
    point = len(text) + int(exponent)
    prefix = "-" if sign else ""
    if len(text) <= point <= 21:
        return prefix + text + "0" * (point - len(text))
    if 0 < point <= 21:
        return f"{prefix}{text[:point]}.{text[point:]}"
    if -6 < point <= 0:
        return f"{prefix}0.{'0' * -point}{text}"
    fraction = f".{text[1:]}" if len(text) > 1 else ""
    return f"{prefix}{text[0]}{fraction}e{point - 1:+d}"

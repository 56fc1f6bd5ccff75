"""Canonical JSON and content hashes: the same value has the same bytes everywhere.

RFC 8785 with one addition, because its numbers are doubles: integers beyond 2**53,
decimals and times are written as strings.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any

_SAFE_INTEGER = 2**53


def format_instant(value: datetime) -> str:
    """UTC with microseconds, always the same width, so that text order is time order."""
    return value.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def canonical_json(value: Any) -> str:
    return "".join(_parts(value))


def content_hash(value: Any) -> str:
    """``sha256:`` and the hex digest of the canonical bytes."""
    return hash_bytes(canonical_json(value).encode())


def hash_bytes(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def unordered_hash(hashes: Iterable[str]) -> str:
    """One hash of a set of hashes, whatever order they came in."""
    return content_hash(sorted(hashes))


def _parts(value: Any) -> Iterable[str]:
    if isinstance(value, Enum):
        value = value.value
    if value is None or isinstance(value, bool):
        yield {None: "null", True: "true", False: "false"}[value]
    elif isinstance(value, str):
        yield _quoted(value)
    elif isinstance(value, int):
        yield str(value) if abs(value) <= _SAFE_INTEGER else f'"{value}"'
    elif isinstance(value, float):
        yield _number(value)
    elif isinstance(value, Decimal | datetime | date):
        yield _quoted(_text(value))
    elif isinstance(value, Mapping):
        yield from _object(value)
    elif isinstance(value, list | tuple):
        yield from _array(value)
    else:
        raise TypeError(f"{type(value).__name__} has no canonical JSON form")


def _object(value: Mapping[Any, Any]) -> Iterable[str]:
    if any(not isinstance(key, str) for key in value):
        raise TypeError("canonical JSON keys are strings")
    yield "{"
    for index, key in enumerate(sorted(value, key=lambda text: text.encode("utf-16-be"))):
        yield ("," if index else "") + _quoted(key) + ":"
        yield from _parts(value[key])
    yield "}"


def _array(value: list[Any] | tuple[Any, ...]) -> Iterable[str]:
    yield "["
    for index, item in enumerate(value):
        if index:
            yield ","
        yield from _parts(item)
    yield "]"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


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
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
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

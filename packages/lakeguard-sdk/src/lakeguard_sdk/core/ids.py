"""Identifiers: ULIDs with a prefix for their kind, and UUIDs for datasets."""

from __future__ import annotations

import re
import secrets
import time
from uuid import UUID

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]
_SHIFTS = range(120, -1, -10)
PREFIXES = frozenset(
    "run dec ver task int src tgt job dag mat mnt off apl wvr prf alr inv lease state".split()  # noqa: SIM905 - words
) | {"grt", "tok", "key", "acc", "ist", "log"}


def new_id(prefix: str) -> str:
    """A new id; ids sort by creation time, to the millisecond."""
    if prefix not in PREFIXES:
        raise ValueError(f"unknown id prefix {prefix!r}")
    number = (time.time_ns() // 1_000_000) << 80 | secrets.randbits(80)
    return f"{prefix}_{ulid_text(number)}"


def ulid_text(number: int) -> str:
    """A 128-bit number as 26 base-32 digits, in the same order."""
    return "".join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS])


_ULID = re.compile(f"[{_ALPHABET}]{{26}}")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def is_id(text: str, prefix: str) -> bool:
    """Whether the text is an id of this kind."""
    kind, _, ulid = text.partition("_")
    return kind == prefix and _ULID.fullmatch(ulid) is not None


def new_uuid() -> str:
    """A UUID of version 7 (RFC 9562): ids sort by creation time, to the millisecond."""
    milliseconds = time.time_ns() // 1_000_000 & (1 << 48) - 1
    number = milliseconds << 80 | 7 << 76 | secrets.randbits(12) << 64
    return str(UUID(int=number | 2 << 62 | secrets.randbits(62)))


def is_uuid(text: str) -> bool:
    return _UUID.fullmatch(text) is not None

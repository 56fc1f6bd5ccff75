"""Identifiers: ULIDs with a prefix for their kind."""

from __future__ import annotations

import secrets
import time

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]
_SHIFTS = range(120, -1, -10)
PREFIXES = frozenset(
    "run dec ver task int ds src tgt job dag mat mnt off apl wvr prf alr inv lease state".split()  # noqa: SIM905 - words
)


def new_id(prefix: str) -> str:
    """A new id; ids sort by creation time, to the millisecond."""
    if prefix not in PREFIXES:
        raise ValueError(f"unknown id prefix {prefix!r}")
    number = (time.time_ns() // 1_000_000) << 80 | secrets.randbits(80)
    return f"{prefix}_{ulid_text(number)}"


def ulid_text(number: int) -> str:
    """A 128-bit number as 26 base-32 digits, in the same order."""
    return "".join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS])

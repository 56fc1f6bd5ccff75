"""Identifiers: ULIDs with a prefix that says what they name."""

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
    """A fresh id; ids made later in another millisecond sort after it."""
    if prefix not in PREFIXES:
        raise ValueError(f"unknown id prefix {prefix!r}")
    number = (time.time_ns() // 1_000_000) << 80 | secrets.randbits(80)
    return f"{prefix}_{ulid_text(number)}"


def ulid_text(number: int) -> str:
    """The 26 digits of a number of 128 bits, five bits each; their order is that of numbers."""
    return "".join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS])

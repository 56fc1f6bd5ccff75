"""Identifiers: ULIDs with a prefix that says what they name."""

from __future__ import annotations

import secrets
import time

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
PREFIXES = frozenset(
    "run dec ver task int ds src tgt job dag mat mnt off apl wvr prf alr inv lease state".split()  # noqa: SIM905 - words
)


def new_id(prefix: str) -> str:
    """A fresh id; ids made later in another millisecond sort after it."""
    if prefix not in PREFIXES:
        raise ValueError(f"unknown id prefix {prefix!r}")
    number = (time.time_ns() // 1_000_000) << 80 | secrets.randbits(80)
    return f"{prefix}_" + "".join(_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))

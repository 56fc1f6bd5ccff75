"""The audit chain: each batch's head covers its rows, in order, and the head before. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from lakeguard_sdk.core.canonical_json import hash_bytes

GENESIS = hash_bytes(b"lakeguard audit chain")
"""What stands before the first batch."""


def row_digest(table: str, payload: str) -> bytes:
    """Of one row as it was told: the table's name and the row's payload."""
    return hashlib.sha256(f"{table}\n{payload}".encode()).digest()


def next_head(previous: str, batch: int, digests: Iterable[bytes]) -> str:
    """The head after a batch; a row changed, left out, added or moved gives another."""
    link = hashlib.sha256(f"{previous}\n{batch}\n".encode())
    for digest in digests:
        link.update(digest)
    return "sha256:" + link.hexdigest()

"""The audit chain: each head hashes its batch's rows in order and the previous head. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from lakeguard_sdk.core.canonical_json import hash_bytes

GENESIS = hash_bytes(b"lakeguard audit chain")
"""The head before the first batch."""


def row_digest(table: str, payload: str) -> bytes:
    """The digest of an outbox row: table name and payload."""
    return hashlib.sha256(f"{table}\n{payload}".encode()).digest()


def next_head(previous: str, batch: int, digests: Iterable[bytes]) -> str:
    """The head after a batch; it differs if a row is changed, removed, added or reordered."""
    link = hashlib.sha256(f"{previous}\n{batch}\n".encode())
    for digest in digests:
        link.update(digest)
    return "sha256:" + link.hexdigest()

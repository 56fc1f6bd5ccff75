"""Documents by content hash: the inputs of decisions, deduplicated."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import select

from lakeguard.state import outbox
from lakeguard.state.bulk_writes import insert_new
from lakeguard.state.schema import documents
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import canonical_json, hash_bytes


def put_document(tx: Transaction, data: Any, at: datetime) -> str:
    """Store the canonical JSON of ``data``; equal content is stored once."""
    return put_text(tx, canonical_json(data), at)


def put_documents(tx: Transaction, data: Sequence[Any], at: datetime) -> list[str]:
    """Store the canonical JSON of each in one statement; returns the hashes in the same order."""
    bodies = [canonical_json(each) for each in data]
    hashes = [hash_bytes(body.encode()) for body in bodies]
    rows = [
        {"org_id": tx.org_id, "content_hash": content_hash, "body": body}
        for content_hash, body in sorted(set(zip(hashes, bodies, strict=True)))
    ]  # sorted, because concurrent writers of the same documents could deadlock
    new = insert_new(tx, documents, rows, ("org_id", "content_hash"), "content_hash")
    outbox.enqueue(tx, documents, [row for row in rows if row["content_hash"] in new], at)
    return hashes


def put_text(tx: Transaction, body: str, at: datetime) -> str:
    """Store a text as it is; equal content is stored once."""
    content_hash = hash_bytes(body.encode())
    row = {"org_id": tx.org_id, "content_hash": content_hash, "body": body}
    outbox.record_once(tx, documents, row, at)
    return content_hash


def get_document(tx: Transaction, content_hash: str) -> str:
    """The text with this hash; raises KeyError."""
    body = tx.scalar(
        select(documents.c.body).where(
            documents.c.org_id == tx.org_id, documents.c.content_hash == content_hash
        )
    )
    if body is None:
        raise KeyError(content_hash)
    return str(body)

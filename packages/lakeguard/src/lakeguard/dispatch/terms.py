"""Terms: the job settings that an attempt runs under, stored by hash.

The job may change meanwhile; the attempt keeps its terms.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from weakref import WeakKeyDictionary

from pydantic import Field
from sqlalchemy import Engine, bindparam, select

from lakeguard.ledger.documents import put_document
from lakeguard.state.caches import Remembered
from lakeguard.state.connections import engine_of
from lakeguard.state.schema import documents
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.scheduling.jobs import JobControls


class JobTerms(FrozenModel):
    """A job's settings when the attempt started."""

    controls: JobControls
    details: dict[str, str] = Field(default_factory=dict)


def keep_terms(tx: Transaction, terms: Mapping[str, JobTerms], at: datetime) -> dict[str, str]:
    """Store terms and return their hashes by key; no query if this process has read them all.
    Inserted in fixed order, so that concurrent callers cannot deadlock."""
    hashes = {key: each.content_hash() for key, each in terms.items()}
    known = _stored(tx, set(hashes.values()))
    for digest, key in sorted((digest, key) for key, digest in hashes.items()):
        if digest not in known:
            known.add(put_document(tx, terms[key].to_data(), at))
    return hashes


def terms_of(tx: Transaction, hashes: Collection[str]) -> dict[str, JobTerms]:
    """Terms by hash."""

    def read(missing: set[str]) -> dict[str, JobTerms]:
        bodies = _bodies(tx, missing)
        return {digest: JobTerms.from_json(body) for digest, body in bodies.items()}

    return _remembered.of(hashes, read)


def _stored(tx: Transaction, hashes: set[str]) -> set[str]:
    """Those that are in the State. Documents are never deleted, so what was read once is there.

    Call once for each transaction, before anything is inserted: what it sees of its own may be
    rolled back.
    """
    seen = _seen.setdefault(engine_of(tx.connection), {}).setdefault(tx.org_id, set())
    missing = hashes - seen
    if missing:
        if len(seen) > _MOST:
            seen.clear()
        seen |= set(_bodies(tx, missing))
    return hashes & seen


_MOST = 10_000
_remembered = Remembered[JobTerms](most=_MOST)
_seen: WeakKeyDictionary[Engine, dict[str, set[str]]] = WeakKeyDictionary()
"""Hashes of terms that this process has read, by State and organisation."""


def _bodies(tx: Transaction, hashes: Collection[str]) -> dict[str, str]:
    if not hashes:
        return {}
    found = tx.execute(_BODIES, {"org_id": tx.org_id, "hashes": sorted(hashes)})
    return {row.content_hash: row.body for row in found}


_BODIES = select(documents.c.content_hash, documents.c.body).where(
    documents.c.org_id == bindparam("org_id"),
    documents.c.content_hash.in_(bindparam("hashes", expanding=True)),
)

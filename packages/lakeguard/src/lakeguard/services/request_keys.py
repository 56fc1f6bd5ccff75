"""Idempotency-Keys: the first request with a key is executed, others get its answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import ColumnElement, and_, delete, select, update

from lakeguard.state.bulk_writes import insert_into
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import request_keys
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.errors import KeyInUse, KeyReused

LIFETIME = timedelta(hours=24)


@dataclass(frozen=True)
class StoredAnswer:
    """The answer to the first request with a key."""

    status: int
    body: str
    content_type: str


@dataclass(frozen=True)
class RequestKeys:
    """Keys of one principal, which expire after 24 hours."""

    state: OrganisationState
    actor: str

    def begin(self, key: str, request_hash: str) -> StoredAnswer | None:
        """The stored answer; None if this is the first request with the key.

        Raises ``KeyReused`` if the key belongs to another request, and ``KeyInUse`` if its request
        has no answer yet.
        """
        return self.state.transact(lambda tx: self._begin(tx, key, request_hash))

    def _begin(self, tx: Transaction, key: str, request_hash: str) -> StoredAnswer | None:
        at, known = tx.now(), request_keys.c
        expired = and_(known.org_id == tx.org_id, known.created_at < at - LIFETIME)
        tx.execute(delete(request_keys).where(expired))
        row = {
            "org_id": tx.org_id,
            "actor": self.actor,
            "request_key": key,
            "request_hash": request_hash,
            "created_at": at,
        }
        new = insert_into(tx, request_keys).values(**row).on_conflict_do_nothing()
        if tx.execute(new.returning(known.request_key)).one_or_none() is not None:
            return None
        asked = select(known.request_hash, known.status, known.answer, known.content_type).where(
            self._one(tx, key)
        )
        found = tx.execute(asked).one_or_none()
        if found is None or (found.request_hash == request_hash and found.status is None):
            raise KeyInUse()
        if found.request_hash != request_hash:
            raise KeyReused()
        return StoredAnswer(found.status, found.answer, found.content_type)

    def finish(self, key: str, answer: StoredAnswer | None) -> None:
        """Stores the answer; None releases the key, so that the request can be retried."""

        def work(tx: Transaction) -> None:
            if answer is None:
                tx.execute(delete(request_keys).where(self._one(tx, key)))
                return
            values = {
                "status": answer.status,
                "answer": answer.body,
                "content_type": answer.content_type,
            }
            tx.execute(update(request_keys).where(self._one(tx, key)).values(**values))

        self.state.transact(work)

    def _one(self, tx: Transaction, key: str) -> ColumnElement[bool]:
        known = request_keys.c
        return and_(known.org_id == tx.org_id, known.actor == self.actor, known.request_key == key)

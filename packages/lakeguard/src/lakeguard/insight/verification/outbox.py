"""Rows that the ledger need not have yet. The outbox is mutable, so it is trusted only for batches
that the chain contains and the ledger has not reached."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import starmap

from sqlalchemy import ColumnElement, func, or_, select

from lakeguard.relay.chain import next_head, row_digest
from lakeguard.relay.ended_runs import ENDING_TOPICS, ended_by
from lakeguard.relay.owner import Ownership
from lakeguard.relay.stamp import Link, OutboxRow, rows_of
from lakeguard.state.schema import audit_chain, outbox
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.model.verification import Finding, FindingKind


def settled_batch(ledger: Sequence[Link] | None, owner: Ownership | None, cursor: int) -> int:
    """The last batch that the ledger must have complete.

    The maximum of all sources counts: a batch is linked, then published in plane.json, then marked
    delivered, so tampering with one of them cannot hide batches.
    """
    linked = max((link.batch for link in ledger or ()), default=0)
    return max(linked, owner.batch if owner else 0, cursor)


def queue_findings(
    tx: Transaction, links: Sequence[Link], settled: int, cursor: int
) -> Iterator[Finding]:
    """Outbox rows that should have been removed, and an impossible cursor.

    ``links`` and ``cursor`` are of this connection's snapshot. A killed relay leaves at most one
    delivered batch unmarked; only that batch may be complete and still in the outbox.
    """
    known = {link.batch: link for link in links}
    last = max(known, default=0)
    unmarked = [batch for batch in known if cursor < batch <= settled]
    if cursor > last:
        yield _finding("relay_cursors", f"batch {cursor} is marked, the chain ends at {last}")
    if len(unmarked) > 1:
        message = f"batch {cursor} is marked, the ledger has all batches up to {max(unmarked)}"
        yield _finding("relay_cursors", message)
    queued = _queued(tx)
    for batch, rows in queued.items():
        if batch not in known:
            yield _finding("outbox", f"{rows:,} rows of batch {batch}, which the chain has not")
        elif batch <= settled and unmarked != [batch]:
            message = f"{rows:,} rows of batch {batch} wait, which the ledger has already"
            yield _finding("outbox", message)
    for batch, link in known.items():
        if batch > cursor and len(unmarked) < 2 and _head(tx, link) != link.head:
            message = f"the rows of batch {batch} do not hash to its link"
            yield _finding("outbox", message)


def waiting_digests(tx: Transaction, topic: str, settled: int) -> set[bytes]:
    payloads = _payloads(tx, topic, settled)
    return {row_digest(topic, payload) for payload in payloads}


def waiting_topics(tx: Transaction, settled: int) -> set[str]:
    found = select(outbox.c.topic).where(_waits(tx.org_id, settled)).distinct()
    return set(tx.scalars(found))


def waiting_runs(tx: Transaction, settled: int, view: str) -> list[str]:
    """Ended runs of a view whose rows are not delivered yet."""
    rows = [
        OutboxRow(topic, payload)
        for topic in ENDING_TOPICS
        for payload in _payloads(tx, topic, settled)
    ]
    return list(ended_by(tx, rows).get(view, ()))


def _payloads(tx: Transaction, topic: str, settled: int) -> list[str]:
    waiting = select(outbox.c.payload).where(_waits(tx.org_id, settled), outbox.c.topic == topic)
    return list(tx.scalars(waiting))


def _waits(org_id: str, settled: int) -> ColumnElement[bool]:
    """Rows not stamped yet, or of a batch that the ledger need not have yet."""
    linked = select(audit_chain.c.batch).where(
        audit_chain.c.org_id == org_id, audit_chain.c.batch > settled
    )
    waits = or_(outbox.c.batch.is_(None), outbox.c.batch.in_(linked))
    return (outbox.c.org_id == org_id) & waits


def _queued(tx: Transaction) -> dict[int, int]:
    """Outbox rows per batch."""
    batch = outbox.c.batch
    counted = tx.execute(
        select(batch, func.count())
        .where(outbox.c.org_id == tx.org_id, batch.is_not(None))
        .group_by(batch)
        .order_by(batch)
    )
    return {int(batch): int(rows) for batch, rows in counted}


def _head(tx: Transaction, link: Link) -> str:
    rows = rows_of(tx, link.batch)
    return next_head(link.previous, link.batch, starmap(row_digest, rows))


def _finding(place: str, message: str) -> Finding:
    return Finding(kind=FindingKind.ROW, place=place, message=message)

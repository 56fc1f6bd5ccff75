"""What the State has told and the ledger need not have yet. The queue is the State's own word: it
is believed only where the chain stands behind it and the ledger has not got there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import starmap

from sqlalchemy import ColumnElement, func, or_, select

from lakeguard.relay.chain import next_head, row_digest
from lakeguard.relay.ended_runs import ENDING_TOPICS, ended_by
from lakeguard.relay.owner import Ownership
from lakeguard.relay.stamp import Link, Told, rows_of
from lakeguard.state.schema import audit_chain, outbox
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.model.verification import Finding, FindingKind


def settled_batch(ledger: Sequence[Link] | None, owner: Ownership | None, cursor: int) -> int:
    """The last batch that the ledger must hold whole, and with it all before.

    Whatever says most is right: a batch is linked last, told of after that, and marked at the very
    end. So nobody has the proof look at less by changing one of them.
    """
    linked = max((link.batch for link in ledger or ()), default=0)
    return max(linked, owner.batch if owner else 0, cursor)


def queue_findings(
    tx: Transaction, links: Sequence[Link], settled: int, cursor: int
) -> Iterator[Finding]:
    """Rows that wait for nothing, and a mark that no relay has left.

    ``links`` and ``cursor`` are of this connection's snapshot. A relay that was killed has sent
    one batch at most without marking it; that batch alone may be settled and still in the queue.
    """
    known = {link.batch: link for link in links}
    last = max(known, default=0)
    unmarked = [batch for batch in known if cursor < batch <= settled]
    if cursor > last:
        yield _finding("relay_cursors", f"batch {cursor} is marked, the chain ends at {last}")
    if len(unmarked) > 1:
        said = f"batch {cursor} is marked, the ledger has all batches up to {max(unmarked)}"
        yield _finding("relay_cursors", said)
    queued = _queued(tx)
    for batch, rows in queued.items():
        if batch not in known:
            yield _finding("outbox", f"{rows:,} rows of batch {batch}, which the chain has not")
        elif batch <= settled and unmarked != [batch]:
            said = f"{rows:,} rows of batch {batch} wait, which the ledger has already"
            yield _finding("outbox", said)
    for batch, link in known.items():
        if batch > cursor and len(unmarked) < 2 and _head(tx, link) != link.head:
            said = f"the rows of batch {batch} do not hash to its link"
            yield _finding("outbox", said)


def waiting_digests(tx: Transaction, topic: str, settled: int) -> set[bytes]:
    payloads = _payloads(tx, topic, settled)
    return {row_digest(topic, payload) for payload in payloads}


def waiting_topics(tx: Transaction, settled: int) -> set[str]:
    found = select(outbox.c.topic).where(_waits(tx.org_id, settled)).distinct()
    return set(tx.scalars(found))


def waiting_runs(tx: Transaction, settled: int, view: str) -> list[str]:
    """Runs of a view that ended, but whose rows are still on their way."""
    told = [
        Told(topic, payload) for topic in ENDING_TOPICS for payload in _payloads(tx, topic, settled)
    ]
    return list(ended_by(tx, told).get(view, ()))


def _payloads(tx: Transaction, topic: str, settled: int) -> list[str]:
    told = select(outbox.c.payload).where(_waits(tx.org_id, settled), outbox.c.topic == topic)
    return list(tx.scalars(told))


def _waits(org_id: str, settled: int) -> ColumnElement[bool]:
    """Not numbered yet, or of a batch that the chain has and the ledger need not have."""
    linked = select(audit_chain.c.batch).where(
        audit_chain.c.org_id == org_id, audit_chain.c.batch > settled
    )
    waits = or_(outbox.c.batch.is_(None), outbox.c.batch.in_(linked))
    return (outbox.c.org_id == org_id) & waits


def _queued(tx: Transaction) -> dict[int, int]:
    """How many rows of each batch are in the queue."""
    batch = outbox.c.batch
    counted = tx.execute(
        select(batch, func.count())
        .where(outbox.c.org_id == tx.org_id, batch.is_not(None))
        .group_by(batch)
        .order_by(batch)
    )
    return {int(batch): int(rows) for batch, rows in counted}


def _head(tx: Transaction, link: Link) -> str:
    told = rows_of(tx, link.batch)
    return next_head(link.previous, link.batch, starmap(row_digest, told))


def _finding(place: str, message: str) -> Finding:
    return Finding(kind=FindingKind.ROW, place=place, message=message)

"""Stamps committed outbox rows with a batch number and adds a link to the chain.

Id order is not commit order; a row committed late gets a later batch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from itertools import starmap
from typing import Any, NamedTuple

from sqlalchemy import Select, delete, insert, select, update

from lakeguard.relay.chain import GENESIS, next_head, row_digest
from lakeguard.state.locks import hold
from lakeguard.state.schema import audit_chain, outbox, relay_cursors
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import canonical_json

DELTA = "delta"
_LARGEST_BATCH = 250_000


class Link(NamedTuple):
    """One row of the chain."""

    batch: int
    rows: int
    tables: str
    previous: str
    head: str
    stamped_at: datetime


class OutboxRow(NamedTuple):
    topic: str
    payload: str


class Stamped(NamedTuple):
    """A new link and its batch's rows."""

    link: Link
    rows: Sequence[OutboxRow]


def stamp(tx: Transaction) -> Stamped | None:
    """Stamp every committed row without a batch; None if there is none."""
    at = tx.now()
    hold(tx, f"relay:{tx.org_id}")
    last = last_link(tx)
    batch = (last.batch if last else 0) + 1
    waiting = select(outbox.c.outbox_id).where(
        outbox.c.org_id == tx.org_id, outbox.c.batch.is_(None)
    )
    chosen = waiting.order_by(outbox.c.outbox_id).limit(_LARGEST_BATCH)
    returned = tx.execute(
        update(outbox)
        .where(outbox.c.outbox_id.in_(chosen.scalar_subquery()))
        .values(batch=batch)
        .returning(outbox.c.outbox_id, outbox.c.topic, outbox.c.payload)
    )
    stamped = [tuple(row) for row in returned]
    if not stamped:
        return None
    stamped.sort()
    rows = [OutboxRow(topic, payload) for _, topic, payload in stamped]
    tables = canonical_json(Counter(row.topic for row in rows))
    previous = last.head if last else GENESIS
    head = next_head(previous, batch, starmap(row_digest, rows))
    link = Link(batch, len(rows), tables, previous, head, at)
    return Stamped(add_link(tx, link), rows)


def add_link(tx: Transaction, link: Link) -> Link:
    tx.execute(insert(audit_chain).values(org_id=tx.org_id, **link._asdict()))
    return link


def last_link(tx: Transaction) -> Link | None:
    newest_first = _links(tx.org_id).order_by(audit_chain.c.batch.desc())
    row = tx.execute(newest_first.limit(1)).first()
    return None if row is None else Link(*row)


def links_after(tx: Transaction, batch: int) -> list[Link]:
    later = _links(tx.org_id).where(audit_chain.c.batch > batch)
    return [Link(*row) for row in tx.execute(later.order_by(audit_chain.c.batch))]


def delivered(tx: Transaction) -> int:
    """The last complete batch in the ledger."""
    table = relay_cursors.c
    found = tx.scalar(select(table.batch).where(table.org_id == tx.org_id, table.consumer == DELTA))
    return int(found or 0)


def has_waiting(tx: Transaction) -> bool:
    """Whether rows are waiting for the ledger."""
    waiting = select(outbox.c.outbox_id).where(outbox.c.org_id == tx.org_id).limit(1)
    return tx.scalar(waiting) is not None


def rows_of(tx: Transaction, batch: int) -> Sequence[OutboxRow]:
    """The rows of a batch, in chain order."""
    table = outbox.c
    rows = tx.execute(
        select(table.topic, table.payload)
        .where(table.org_id == tx.org_id, table.batch == batch)
        .order_by(table.outbox_id)
    )
    return [OutboxRow(*row) for row in rows]


def mark_delivered(tx: Transaction, batch: int) -> None:
    """Delete a delivered batch from the outbox."""
    table = relay_cursors
    moved = tx.execute(
        update(table)
        .where(table.c.org_id == tx.org_id, table.c.consumer == DELTA, table.c.batch < batch)
        .values(batch=batch)
    )
    if moved.rowcount == 0 and delivered(tx) < batch:
        tx.execute(insert(table).values(org_id=tx.org_id, consumer=DELTA, batch=batch))
    tx.execute(delete(outbox).where(outbox.c.org_id == tx.org_id, outbox.c.batch == batch))


def _links(org_id: str) -> Select[Any]:
    columns = (audit_chain.c[name] for name in Link._fields)
    return select(*columns).where(audit_chain.c.org_id == org_id)

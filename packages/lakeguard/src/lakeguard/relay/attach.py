"""Attaches a State to its lake: checks ownership, and that neither is older than the other."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import delete, insert, select, text

from lakeguard.relay.chain import GENESIS
from lakeguard.relay.owner import Ownership, claim, holds_ledger, ledger_root, read_owner
from lakeguard.relay.stamp import (
    Link,
    delivered,
    last_link,
    links_after,
)
from lakeguard.relay.tables import fact_tables
from lakeguard.state import outbox as facts
from lakeguard.state.locks import hold
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import organizations, outbox, plane_identity
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import format_instant
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.errors import (
    LakeOwned,
    LedgerMissing,
    LedgerOlder,
    LedgerOrphaned,
    StateForked,
    StateOlder,
)
from lakeguard_sdk.storage.fault_points import reached


def attach(state: OrganisationState, lake: str) -> Ownership:
    """The lake's owner if it is this State; an unowned lake is claimed."""
    root = ledger_root(lake, state.org_id)
    if read_owner(root) is None:
        with state.read() as tx:
            if last_link(tx) is not None:
                raise LedgerMissing(location=root)
        if holds_ledger(root):
            raise LedgerOrphaned(location=root)
        claim(root, _introduce(state, state.clock()))
    return owned(state, lake)


def owned(state: OrganisationState, lake: str) -> Ownership:
    """``plane.json``, if it names this State and no batch that the State does not know."""
    root = ledger_root(lake, state.org_id)
    owner = read_owner(root)  # read before the State, which can then only be ahead
    if owner is None:
        raise LedgerMissing(location=root)
    with state.read() as tx:
        state_id, last = identity(tx), last_link(tx)
        link = _link_at(tx, owner.batch)
        sent = delivered(tx)
    if owner.state_id != state_id:
        raise LakeOwned(
            place=state.database.place,
            lake=lake,
            owner=owner.state_id,
            since=format_instant(owner.since),
        )
    if owner.batch > (last.batch if last else 0):
        raise StateOlder(
            place=state.database.place, known=last.batch if last else 0, ledger=owner.batch
        )
    if owner.batch < sent:
        raise LedgerOlder(location=root, ledger=owner.batch, known=sent)
    if owner.batch and (link is None or link.head != owner.head):
        raise StateForked(place=state.database.place, batch=owner.batch)
    return owner


def identity(tx: Transaction) -> str | None:
    """This State's id, if it has one."""
    found = select(plane_identity.c.state_id).where(plane_identity.c.org_id == tx.org_id)
    return tx.scalar(found)


def give_identity(tx: Transaction, at: datetime) -> str:
    state_id = new_id("state")
    tx.execute(insert(plane_identity).values(org_id=tx.org_id, state_id=state_id, created_at=at))
    return state_id


def _introduce(state: OrganisationState, at: datetime) -> Ownership:
    """Give the State an id and enqueue all its rows, so that the ledger starts complete."""
    with state.write() as tx:
        hold(tx, f"relay:{tx.org_id}")
        state_id = identity(tx)
        if state_id is None:
            state_id = give_identity(tx, at)
            _block_writers(tx)
            tx.execute(delete(outbox).where(outbox.c.org_id == tx.org_id))
            for table in fact_tables().values():
                held = select(table.source).where(table.source.c.org_id == tx.org_id)
                rows = [dict(row._mapping) for row in tx.execute(held)]
                if rows:
                    facts.enqueue(tx, table.source, rows, at)
            row = {"org_id": tx.org_id, "org_name": tx.org_id, "created_at": at}
            facts.record_once(tx, organizations, row, at)
    reached("state.named")
    return Ownership(organisation=state.org_id, state_id=state_id, since=at, batch=0, head=GENESIS)


def _block_writers(tx: Transaction) -> None:
    """Block writers meanwhile, so that each row is enqueued once."""
    if tx.dialect.name == "postgresql":
        tx.execute(text("LOCK TABLE outbox IN SHARE ROW EXCLUSIVE MODE"))


def _link_at(tx: Transaction, batch: int) -> Link | None:
    found = links_after(tx, batch - 1)
    return found[0] if found and found[0].batch == batch else None

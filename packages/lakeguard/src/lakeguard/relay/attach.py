"""A State and its lake: one owns the other, and neither is older than what they agreed on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select, text

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
from lakeguard.state.database import Database
from lakeguard.state.locks import hold
from lakeguard.state.schema import organizations, outbox, plane_identity
from lakeguard_sdk.core.canonical_json import format_instant
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.errors import (
    LakeOwned,
    LedgerGone,
    LedgerOlder,
    LedgerOrphaned,
    StateForked,
    StateOlder,
)
from lakeguard_sdk.storage.fault_points import reached


def attach(database: Database, lake: str, org_id: str, clock: Callable[[], datetime]) -> Ownership:
    """The lake's owner, if that is this State; a lake that nobody owns becomes its own."""
    root = ledger_root(lake, org_id)
    if read_owner(root) is None:
        with database.read() as connection:
            if last_link(connection, org_id) is not None:
                raise LedgerGone(location=root)
        if holds_ledger(root):
            raise LedgerOrphaned(location=root)
        claim(root, _introduce(database, org_id, clock()))
    return owned(database, lake, org_id)


def owned(database: Database, lake: str, org_id: str) -> Ownership:
    """What ``plane.json`` says, if it names this State and tells nothing that is not known here."""
    root = ledger_root(lake, org_id)
    owner = read_owner(root)  # before the State is read: it can only be ahead of what is told
    if owner is None:
        raise LedgerGone(location=root)
    with database.read() as connection:
        state_id, last = identity(connection, org_id), last_link(connection, org_id)
        link = _link_at(connection, org_id, owner.batch)
        sent = delivered(connection, org_id)
    if owner.state_id != state_id:
        raise LakeOwned(
            place=database.place,
            lake=lake,
            owner=owner.state_id,
            since=format_instant(owner.since),
        )
    if owner.batch > (last.batch if last else 0):
        raise StateOlder(place=database.place, known=last.batch if last else 0, told=owner.batch)
    if owner.batch < sent:
        raise LedgerOlder(location=root, told=owner.batch, known=sent)
    if owner.batch and (link is None or link.head != owner.head):
        raise StateForked(place=database.place, batch=owner.batch)
    return owner


def identity(connection: Connection, org_id: str) -> str | None:
    """The name of this State, once it has one."""
    found = select(plane_identity.c.state_id).where(plane_identity.c.org_id == org_id)
    return connection.scalar(found)


def give_identity(connection: Connection, org_id: str, at: datetime) -> str:
    state_id = new_id("state")
    connection.execute(
        insert(plane_identity).values(org_id=org_id, state_id=state_id, created_at=at)
    )
    return state_id


def _introduce(database: Database, org_id: str, at: datetime) -> Ownership:
    """Name the State; what it holds already is queued, so that the ledger begins whole."""
    with database.write() as connection:
        hold(connection, f"relay:{org_id}")
        state_id = identity(connection, org_id)
        if state_id is None:
            state_id = give_identity(connection, org_id, at)
            _stop_telling(connection)
            connection.execute(delete(outbox).where(outbox.c.org_id == org_id))
            for table in fact_tables().values():
                held = select(table.source).where(table.source.c.org_id == org_id)
                rows = [dict(row._mapping) for row in connection.execute(held)]
                if rows:
                    facts.tell(connection, table.source, rows, at)
            row = {"org_id": org_id, "org_name": org_id, "created_at": at}
            facts.record_once(connection, organizations, row, at)
    reached("state.named")
    return Ownership(organisation=org_id, state_id=state_id, since=at, batch=0, head=GENESIS)


def _stop_telling(connection: Connection) -> None:
    """Who is about to tell of a row waits: it is told once, by them or by us."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("LOCK TABLE outbox IN SHARE ROW EXCLUSIVE MODE"))


def _link_at(connection: Connection, org_id: str, batch: int) -> Link | None:
    found = links_after(connection, org_id, batch - 1)
    return found[0] if found and found[0].batch == batch else None

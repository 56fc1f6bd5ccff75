"""What the State has told and the ledger need not have yet."""

from __future__ import annotations

import json

from sqlalchemy import Connection, func, select

from lakeguard.relay.chain import row_digest
from lakeguard.relay.stamping import last_link
from lakeguard.state.tables import outbox, run_history


def settled_batch(connection: Connection, org_id: str) -> int:
    """The last batch that the ledger must hold whole, and with it all before."""
    first = connection.scalar(select(func.min(outbox.c.batch)).where(outbox.c.org_id == org_id))
    if first is not None:
        return int(first) - 1
    last = last_link(connection, org_id)
    return last.batch if last else 0


def waiting_digests(connection: Connection, org_id: str, topic: str) -> set[bytes]:
    return {row_digest(topic, payload) for payload in _payloads(connection, org_id, topic)}


def waiting_topics(connection: Connection, org_id: str) -> set[str]:
    found = select(outbox.c.topic).where(outbox.c.org_id == org_id).distinct()
    return set(connection.scalars(found))


def waiting_runs(connection: Connection, org_id: str) -> list[str]:
    """Runs that ended, but whose rows are still on their way."""
    told = _payloads(connection, org_id, run_history.name)
    return [str(json.loads(payload)["run_id"]) for payload in told]


def _payloads(connection: Connection, org_id: str, topic: str) -> list[str]:
    told = select(outbox.c.payload).where(outbox.c.org_id == org_id, outbox.c.topic == topic)
    return list(connection.scalars(told))

"""Stored graph versions: immutable, one per content; the last activation is active."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, or_, select

from lakeguard.ledger.notifications.emit_events import emit_activation
from lakeguard.scheduler.graph.dag import Graph
from lakeguard.state import outbox
from lakeguard.state.caches import Remembered
from lakeguard.state.schema import dag_activations, dag_versions
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.errors import UnknownGraph
from lakeguard_sdk.model.definitions import JobDefinition
from lakeguard_sdk.scheduling.jobs import DagVersion

SHORTEST_HASH = 8
SHOWN_HASH = 12
_SHA = "sha256:"
_MOST_NAMED = 4


@dataclass(frozen=True)
class StoredGraph:
    dag_version_id: str
    content_hash: str
    graph: Graph

    def knows(self, job: JobDefinition) -> bool:
        """Whether the graph contains the job with its current type and dataset."""
        known = self.graph.jobs.get(job.job)
        return known is not None and (known.type, known.dataset) == (job.type, job.dataset)


_remembered = Remembered[StoredGraph](most=64)


def active_graph(tx: Transaction) -> StoredGraph | None:
    """The active version; None before the first deployment."""
    dag_version_id = active_graph_id(tx)
    return None if dag_version_id is None else _read(tx, dag_version_id)


def active_graph_id(tx: Transaction) -> str | None:
    return tx.scalar(
        select(dag_activations.c.dag_version_id)
        .where(dag_activations.c.org_id == tx.org_id)
        .order_by(dag_activations.c.number.desc())
        .limit(1)
    )


def keep_graph(tx: Transaction, graph: Graph, at: datetime) -> StoredGraph:
    """The version of this content, created if missing."""
    digest = graph.content_hash()
    known = tx.scalar(
        select(dag_versions.c.dag_version_id).where(
            dag_versions.c.org_id == tx.org_id, dag_versions.c.content_hash == digest
        )
    )
    if known is not None:
        return StoredGraph(known, digest, graph)
    dag_version_id = new_id("dag")
    row = {
        "dag_version_id": dag_version_id,
        "org_id": tx.org_id,
        "content_hash": digest,
        "body": graph.to_json(),
        "created_at": at,
    }
    outbox.record(tx, dag_versions, [row], at)
    return StoredGraph(dag_version_id, digest, graph)


def find_graph(tx: Transaction, wanted_version: str) -> StoredGraph:
    """Find a version by id, hash, or unique hash prefix."""
    wanted = wanted_version.removeprefix(_SHA)
    rows = _beginning_so(tx, wanted_version, wanted)
    found = [row for row in rows if row.dag_version_id == wanted_version]
    if not found and len(wanted) >= SHORTEST_HASH:
        found = [row for row in rows if _bare_hash(row).startswith(wanted)]
    if len(found) == 1:
        return _read(tx, found[0].dag_version_id)
    if found:
        hint = f" alone: {_names(found)} begin so"
    else:
        near = [row for row in rows if row.dag_version_id.startswith(wanted_version)]
        near += [row for row in rows if _bare_hash(row).startswith(wanted) and row not in near]
        needed = f"write a whole id, or {SHORTEST_HASH} characters of a hash or more"
        hint = f"; {needed}, of {_names(near)}" if near else ""
    raise UnknownGraph(version=wanted_version[:80] or "''", hint=hint)


def _beginning_so(tx: Transaction, version_id: str, bare_hash: str) -> Sequence[Any]:
    """Ids and hashes with this prefix, case-insensitive."""
    table = dag_versions.c
    query = select(table.dag_version_id, table.content_hash).where(
        table.org_id == tx.org_id,
        or_(
            table.dag_version_id.istartswith(version_id, autoescape=True),
            table.content_hash.istartswith(f"{_SHA}{bare_hash}", autoescape=True),
        ),
    )
    return tx.execute(query.order_by(table.dag_version_id.desc())).all()


def _bare_hash(row: Any) -> str:
    return str(row.content_hash).removeprefix(_SHA)


def _names(rows: Sequence[Any]) -> str:
    """Versions by id and short hash, newest first."""
    named = [f"{row.dag_version_id} ({_bare_hash(row)[:SHOWN_HASH]})" for row in rows]
    more = f" and {len(named) - _MOST_NAMED:,} more" if len(named) > _MOST_NAMED else ""
    return f"{', '.join(named[:_MOST_NAMED])}{more}"


def activate(tx: Transaction, graph: StoredGraph, reason: str, at: datetime) -> None:
    """Activate a version; the caller holds the organisation's graph lock."""
    last = tx.scalar(
        select(func.coalesce(func.max(dag_activations.c.number), 0)).where(
            dag_activations.c.org_id == tx.org_id
        )
    )
    row = {
        "org_id": tx.org_id,
        "number": int(last or 0) + 1,
        "dag_version_id": graph.dag_version_id,
        "activated_at": at,
        "actor": tx.actor,
        "reason": reason,
    }
    outbox.record(tx, dag_activations, [row], at)
    emit_activation(tx, row)


def list_graphs(tx: Transaction, limit: int) -> list[DagVersion]:
    """Versions by first activation, newest first."""
    active = active_graph_id(tx)
    first = (
        select(dag_activations.c.dag_version_id, func.min(dag_activations.c.number).label("number"))
        .where(dag_activations.c.org_id == tx.org_id)
        .group_by(dag_activations.c.dag_version_id)
        .subquery()
    )
    newest = (
        select(dag_versions)
        .join(first, first.c.dag_version_id == dag_versions.c.dag_version_id)
        .where(dag_versions.c.org_id == tx.org_id)
        .order_by(first.c.number.desc())
        .limit(limit)
    )
    found = []
    for row in tx.execute(newest):
        graph = _stored(row).graph
        found.append(
            DagVersion(
                dag_version_id=row.dag_version_id,
                dag_hash=row.content_hash,
                created_at=row.created_at,
                jobs=len(graph.jobs),
                datasets=len(graph.datasets),
                active=row.dag_version_id == active,
            )
        )
    return found


def _read(tx: Transaction, dag_version_id: str) -> StoredGraph:
    def read(missing: set[str]) -> dict[str, StoredGraph]:
        query = select(dag_versions).where(
            dag_versions.c.org_id == tx.org_id, dag_versions.c.dag_version_id.in_(missing)
        )
        return {row.dag_version_id: _stored(row) for row in tx.execute(query)}

    return _remembered.of({dag_version_id}, read)[dag_version_id]


def _stored(row: Any) -> StoredGraph:
    return StoredGraph(row.dag_version_id, row.content_hash, Graph.from_json(row.body))

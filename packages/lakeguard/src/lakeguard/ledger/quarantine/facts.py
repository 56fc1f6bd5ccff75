"""Facts about quarantined rows: held by runs, replayed, or discarded by users."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from pydantic import ConfigDict, TypeAdapter
from sqlalchemy import Row, Table, select

from lakeguard.ledger.quarantine.state import Discard, Holding, Taken
from lakeguard.state import outbox
from lakeguard.state.schema import (
    data_versions,
    decisions,
    documents,
    quarantine_discards,
    quarantine_holdings,
    quarantine_replays,
)
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import canonical_json
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.model.quarantine import StagedQuarantineFile

_FILES = TypeAdapter(tuple[StagedQuarantineFile, ...], config=ConfigDict(defer_build=True))


def record_holdings(tx: Transaction, dataset_id: str, holdings: Iterable[Holding]) -> None:
    for item in holdings:
        row = {
            "run_id": item.run_id,
            "rule_id": item.rule_id,
            "org_id": tx.org_id,
            "dataset_id": dataset_id,
            "version": item.version,
            "expression": item.expression,
            "rows": item.rows,
            "first_seen": item.first_seen,
            "quarantined_at": item.quarantined_at,
            "files": canonical_json([file.to_data() for file in item.files]),
        }
        outbox.record(tx, quarantine_holdings, [row], item.quarantined_at)


def record_taken(tx: Transaction, dataset_id: str, taken: Iterable[Taken], at: datetime) -> None:
    rows = [
        {
            "run_id": item.run_id,
            "holding_run_id": item.holding_run_id,
            "rule_id": item.rule_id,
            "org_id": tx.org_id,
            "dataset_id": dataset_id,
            "version": item.version,
        }
        for item in taken
    ]
    outbox.record(tx, quarantine_replays, rows, at)


def record_discard(
    tx: Transaction, dataset_id: str, holding: Holding, *, reason: str, at: datetime
) -> None:
    row = {
        "discard_id": new_id("off"),
        "org_id": tx.org_id,
        "dataset_id": dataset_id,
        "run_id": holding.run_id,
        "rule_id": holding.rule_id,
        "rows": holding.rows,
        "reason": reason,
        "actor": tx.actor,
        "discarded_at": at,
    }
    outbox.record(tx, quarantine_discards, [row], at)


def holdings_of(tx: Transaction, dataset_id: str) -> tuple[Holding, ...]:
    """Oldest first."""
    rows = _of_dataset(tx, quarantine_holdings, dataset_id)
    found = (
        Holding(
            run_id=row.run_id,
            rule_id=row.rule_id,
            expression=row.expression,
            version=row.version,
            rows=row.rows,
            first_seen=row.first_seen,
            quarantined_at=row.quarantined_at,
            files=_FILES.validate_json(row.files),
        )
        for row in rows
    )
    return tuple(sorted(found, key=lambda item: (item.version, item.rule_id)))


def taken_of(tx: Transaction, dataset_id: str) -> tuple[Taken, ...]:
    rows = _of_dataset(tx, quarantine_replays, dataset_id)
    return tuple(Taken(row.run_id, row.holding_run_id, row.rule_id, row.version) for row in rows)


def discards_of(tx: Transaction, dataset_id: str) -> tuple[Discard, ...]:
    rows = _of_dataset(tx, quarantine_discards, dataset_id)
    return tuple(
        Discard(row.run_id, row.rule_id, row.reason, row.actor, row.discarded_at) for row in rows
    )


def datasets_with_holdings(tx: Transaction) -> frozenset[str]:
    """Ids of datasets that ever had quarantined rows."""
    held = quarantine_holdings.c
    found = tx.scalars(select(held.dataset_id).where(held.org_id == tx.org_id).distinct())
    return frozenset(found)


def datasets_with_quarantine(tx: Transaction) -> frozenset[str]:
    """Ids of datasets whose evidence mentions quarantined rows, whether recorded or not."""
    version, decided, document = data_versions.c, decisions.c, documents.c
    found = tx.scalars(
        select(version.dataset_id)
        .join(decisions, decided.decision_id == version.decision_id)
        .join(
            documents,
            (document.content_hash == decided.evidence_hash) & (document.org_id == decided.org_id),
        )
        .where(
            decided.org_id == tx.org_id, document.body.contains('"quarantined":{', autoescape=True)
        )
        .distinct()
    )
    return frozenset(found)


def _of_dataset(tx: Transaction, table: Table, dataset_id: str) -> Sequence[Row[Any]]:
    return tx.execute(select(table).where(table.c.dataset_id == dataset_id)).all()

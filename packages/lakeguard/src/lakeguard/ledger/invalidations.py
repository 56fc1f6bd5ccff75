"""Facts about invalidations: ranges to rebuild, datasets that caught up, and ends."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Row, Select, select

from lakeguard.ledger.notifications.emit_events import emit_invalidation, emit_invalidation_end
from lakeguard.state import outbox
from lakeguard.state.schema import (
    invalidation_ends,
    invalidation_progress,
    invalidations,
    version_inputs,
)
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.errors import UnknownInvalidation
from lakeguard_sdk.model.row_ranges import RowRange
from lakeguard_sdk.scheduling.invalidations import End, Reason, Standing


class Invalidation(FrozenModel):
    invalidation_id: str
    dataset_id: str
    reach: RowRange
    reason: Reason
    caused_by: str | None = None
    why: str | None = None
    created_at: Instant
    created_by: str


class Ended(NamedTuple):
    end: End
    ended_at: datetime
    actor: str
    reason: str | None


class Progress(NamedTuple):
    """A dataset's final state in an invalidation."""

    dataset_id: str
    standing: Standing
    run_id: str | None = None
    version: int | None = None


def record_invalidation(
    tx: Transaction,
    dataset_id: str,
    reach: RowRange,
    reason: Reason,
    *,
    at: datetime,
    actor: str,
    why: str | None = None,
    caused_by: str | None = None,
) -> Invalidation:
    row = {
        "invalidation_id": new_id("inv"),
        "org_id": tx.org_id,
        "dataset_id": dataset_id,
        "scope": reach.to_json(),
        "reason": reason.value,
        "caused_by": caused_by,
        "created_at": at,
        "created_by": actor,
        "why": why,
    }
    outbox.record(tx, invalidations, [row], at)
    emit_invalidation(tx, row)
    return Invalidation(
        invalidation_id=row["invalidation_id"], dataset_id=dataset_id, reach=reach, reason=reason,
        caused_by=caused_by, why=why, created_at=at, created_by=actor,
    )  # fmt: skip


def record_progress(
    tx: Transaction, invalidation_id: str, made: Iterable[Progress], at: datetime
) -> None:
    rows = [
        {
            "invalidation_id": invalidation_id,
            "dataset_id": item.dataset_id,
            "org_id": tx.org_id,
            "outcome": item.standing.value,
            "run_id": item.run_id,
            "version": item.version,
            "at": at,
        }
        for item in made
    ]
    outbox.record(tx, invalidation_progress, rows, at)


def record_end(
    tx: Transaction, invalidation_id: str, end: End, *, actor: str, reason: str | None = None
) -> None:
    at = tx.now()
    row = {
        "invalidation_id": invalidation_id,
        "org_id": tx.org_id,
        "outcome": end.value,
        "ended_at": at,
        "actor": actor,
        "reason": reason,
    }
    outbox.record(tx, invalidation_ends, [row], at)
    emit_invalidation_end(tx, row)


def open_invalidations(tx: Transaction, dataset_id: str | None = None) -> list[Invalidation]:
    """Open invalidations, oldest first."""
    query = _all(tx.org_id).where(invalidation_ends.c.invalidation_id.is_(None))
    if dataset_id is not None:
        query = query.where(invalidations.c.dataset_id == dataset_id)
    return [_invalidation(row) for row in tx.execute(query)]


def every_invalidation(tx: Transaction) -> list[tuple[Invalidation, Ended | None]]:
    """All invalidations, oldest first."""
    return [(_invalidation(row), _ended(row)) for row in tx.execute(_all(tx.org_id))]


def require_invalidation(
    tx: Transaction, invalidation_id: str
) -> tuple[Invalidation, Ended | None]:
    query = _all(tx.org_id).where(invalidations.c.invalidation_id == invalidation_id)
    row = tx.execute(query).first()
    if row is None:
        raise UnknownInvalidation(invalidation=invalidation_id[:80])
    return _invalidation(row), _ended(row)


def progress_of(tx: Transaction, invalidation_ids: Sequence[str]) -> dict[str, dict[str, Progress]]:
    """Keyed by invalidation and dataset."""
    table = invalidation_progress.c
    query = select(invalidation_progress).where(table.org_id == tx.org_id)
    found: dict[str, dict[str, Progress]] = {key: {} for key in invalidation_ids}
    for row in tx.execute(query.where(table.invalidation_id.in_(invalidation_ids))):
        made = Progress(row.dataset_id, Standing(row.outcome), row.run_id, row.version)
        found[row.invalidation_id][row.dataset_id] = made
    return found


def is_read_by_others(tx: Transaction, dataset_id: str) -> bool:
    """Whether another dataset was ever built from it."""
    table = version_inputs.c
    found = select(table.dataset_id).where(
        table.org_id == tx.org_id, table.input_dataset_id == dataset_id
    )
    return tx.scalar(found.limit(1)) is not None


def _all(org_id: str) -> Select[Any]:
    table, ends = invalidations.c, invalidation_ends.c
    return (
        select(
            invalidations,
            ends.outcome,
            ends.ended_at,
            ends.actor.label("ended_by"),
            ends.reason.label("end_why"),
        )
        .join(invalidation_ends, ends.invalidation_id == table.invalidation_id, isouter=True)
        .where(table.org_id == org_id)
        .order_by(table.created_at, table.invalidation_id)
    )


def _invalidation(row: Row[Any]) -> Invalidation:
    fields = {**row._mapping, "reach": RowRange(**json.loads(row.scope))}
    return Invalidation(**{name: fields[name] for name in Invalidation.model_fields})


def _ended(row: Row[Any]) -> Ended | None:
    if row.outcome is None:
        return None
    return Ended(End(row.outcome), row.ended_at, row.ended_by, row.end_why)

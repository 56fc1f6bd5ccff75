"""Waivers: granted, taken back, and those that hold for a dataset."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Select, select

from lakeguard.state import outbox
from lakeguard.state.schema import dataset_registry, waiver_revocations, waivers
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.model.decision import Waiver, WaiverRow


def record_waiver(tx: Transaction, dataset_id: str, waiver: Waiver) -> None:
    row = {
        "waiver_id": waiver.waiver_id,
        "org_id": tx.org_id,
        "dataset_id": dataset_id,
        "check_kind": waiver.check_kind,
        "check_id": waiver.check_id,
        "expression": waiver.expression,
        "approver": waiver.approver,
        "reason": waiver.reason,
        "granted_at": waiver.granted_at,
        "granted_by": tx.actor,
        "until": waiver.until,
    }
    outbox.record(tx, waivers, [row], waiver.granted_at)


def record_revocation(tx: Transaction, waiver_id: str, reason: str, at: datetime) -> None:
    row = {
        "waiver_id": waiver_id,
        "org_id": tx.org_id,
        "revoked_at": at,
        "revoked_by": tx.actor,
        "reason": reason,
    }
    outbox.record(tx, waiver_revocations, [row], at)


def waivers_in_force(tx: Transaction, dataset_id: str, at: datetime) -> tuple[Waiver, ...]:
    """Those of a dataset that hold at a time, and were not taken back."""
    held = (waivers.c.dataset_id == dataset_id) & (waivers.c.until > at)
    rows = tx.execute(_all().where(held))
    found = (_waiver(row) for row in rows if row.revoked_at is None)
    return tuple(waiver for waiver in found if waiver.in_force(at))


def waiver_rows(tx: Transaction, dataset_id: str | None = None) -> Sequence[WaiverRow]:
    """Latest first."""
    query = _all().where(waivers.c.org_id == tx.org_id)
    if dataset_id is not None:
        query = query.where(waivers.c.dataset_id == dataset_id)
    rows = tx.execute(query.order_by(waivers.c.waiver_id.desc()))
    return [_row(row) for row in rows]


def waiver_row(tx: Transaction, waiver_id: str) -> WaiverRow | None:
    query = _all().where(waivers.c.org_id == tx.org_id, waivers.c.waiver_id == waiver_id)
    row = tx.execute(query).first()
    return None if row is None else _row(row)


def _all() -> Select[Any]:
    """Every waiver with its dataset's name and, where it was taken back, by whom and why."""
    back = waiver_revocations.c
    return (
        select(
            waivers,
            dataset_registry.c.dataset_name,
            back.revoked_at,
            back.revoked_by,
            back.reason.label("revoked_for"),
        )
        .join(dataset_registry, dataset_registry.c.dataset_id == waivers.c.dataset_id)
        .outerjoin(waiver_revocations, back.waiver_id == waivers.c.waiver_id)
        .order_by(waivers.c.waiver_id)
    )


def _row(row: Row[Any]) -> WaiverRow:
    return WaiverRow(
        dataset=row.dataset_name,
        waiver=_waiver(row),
        granted_by=row.granted_by,
        revoked_at=row.revoked_at,
        revoked_by=row.revoked_by,
        revoked_for=row.revoked_for,
    )


def _waiver(row: Row[Any]) -> Waiver:
    return Waiver(**{key: row._mapping[key] for key in Waiver.model_fields})

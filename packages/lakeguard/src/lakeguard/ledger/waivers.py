"""Waivers: granted, taken back, and those that hold for a dataset."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Select, select

from lakeguard.state import outbox
from lakeguard.state.schema import dataset_registry, decisions, waiver_revocations, waivers
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import Outcome
from lakeguard_sdk.model.decision import CheckResult, Ruling, Waiver, WaiverRow

_LOOK_BACK = 20
"""Decisions that are searched for the last result of a check."""


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
        "covers": waiver.covers or None,
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
    """Those of a dataset that hold at a time, were not taken back, and whose failure goes on."""
    held = (waivers.c.dataset_id == dataset_id) & (waivers.c.until > at)
    rows = tx.execute(_all().where(held)).all()
    found = [_waiver(row) for row in rows if row.revoked_at is None]
    return tuple(
        waiver
        for waiver in found
        if waiver.in_force(at) and _passed_again(tx, dataset_id, waiver) is None
    )


def last_result(
    tx: Transaction, dataset_id: str, kind: str, check_id: str
) -> tuple[str, str, CheckResult] | None:
    """Run, decision and result of the last decision that has the check."""
    table = decisions.c
    newest = (
        select(table.run_id, table.decision_id, table.ruling)
        .where(table.dataset_id == dataset_id)
        .order_by(table.decided_at.desc(), table.decision_id.desc())
        .limit(_LOOK_BACK)
    )
    for row in tx.execute(newest):
        check = _result(row, kind, check_id)
        if check is not None:
            return row.run_id, row.decision_id, check
    return None


def _passed_again(tx: Transaction, dataset_id: str, waiver: Waiver) -> datetime | None:
    """When the check first passed after the failure that the waiver covers; None before."""
    table, failing = decisions.c, bool(waiver.covers)
    later = (
        select(table.ruling, table.decided_at)
        .where(table.dataset_id == dataset_id, table.decided_at > waiver.granted_at)
        .order_by(table.decided_at, table.decision_id)
    )
    for row in tx.execute(later):
        check = _result(row, waiver.check_kind, waiver.check_id)
        if check is not None and check.outcome is Outcome.PASS and failing:
            passed: datetime = row.decided_at
            return passed
        failing |= check is not None and check.outcome in (Outcome.FAIL, Outcome.WARN)
    return None


def _result(row: Any, kind: str, check_id: str) -> CheckResult | None:
    checks = Ruling.from_json(row.ruling).checks
    return next((c for c in checks if (c.kind.value, c.check_id) == (kind, check_id)), None)


def waiver_rows(tx: Transaction, dataset_id: str | None = None) -> Sequence[WaiverRow]:
    """Latest first."""
    query = _all().where(waivers.c.org_id == tx.org_id)
    if dataset_id is not None:
        query = query.where(waivers.c.dataset_id == dataset_id)
    rows = tx.execute(query.order_by(waivers.c.waiver_id.desc()))
    return [_row(tx, row) for row in rows.all()]


def waiver_row(tx: Transaction, waiver_id: str) -> WaiverRow | None:
    query = _all().where(waivers.c.org_id == tx.org_id, waivers.c.waiver_id == waiver_id)
    row = tx.execute(query).first()
    return None if row is None else _row(tx, row)


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


def _row(tx: Transaction, row: Row[Any]) -> WaiverRow:
    waiver = _waiver(row)
    return WaiverRow(
        dataset=row.dataset_name,
        waiver=waiver,
        failure=_failure(tx, waiver),
        over_at=_passed_again(tx, row.dataset_id, waiver),
        granted_by=row.granted_by,
        revoked_at=row.revoked_at,
        revoked_by=row.revoked_by,
        revoked_for=row.revoked_for,
    )


def _failure(tx: Transaction, waiver: Waiver) -> str:
    if not waiver.covers:
        return ""
    table = decisions.c
    row = tx.execute(
        select(table.run_id, table.ruling).where(table.decision_id == waiver.covers)
    ).first()
    check = None if row is None else _result(row, waiver.check_kind, waiver.check_id)
    return "" if row is None or check is None else f"{check.message} in {row.run_id}"


def _waiver(row: Row[Any]) -> Waiver:
    fields = {key: row._mapping[key] for key in Waiver.model_fields}
    return Waiver(**{**fields, "covers": fields["covers"] or ""})

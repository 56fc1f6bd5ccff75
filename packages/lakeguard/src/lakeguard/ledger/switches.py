"""Job switches, set by operators independently of the definition."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, Select, func, select

from lakeguard.state import outbox
from lakeguard.state.locks import hold
from lakeguard.state.schema import job_switches
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.errors import SecretInReason
from lakeguard_sdk.scheduling.jobs import Switch
from lakeguard_sdk.security.secret_values import holds_secret


def switch_job(tx: Transaction, job_id: str, *, enabled: bool, reason: str) -> None:
    """Record a switch; repeating the current state adds no row."""
    at = tx.now()
    if holds_secret(reason):
        raise SecretInReason()
    hold(tx, f"switch:{tx.org_id}:{job_id}")
    last = tx.execute(
        select(job_switches.c.number, job_switches.c.enabled)
        .where(job_switches.c.org_id == tx.org_id, job_switches.c.job_id == job_id)
        .order_by(job_switches.c.number.desc())
        .limit(1)
    ).first()
    if enabled is (True if last is None else last.enabled):
        return
    row = {
        "org_id": tx.org_id,
        "job_id": job_id,
        "number": 1 if last is None else last.number + 1,
        "enabled": enabled,
        "switched_at": at,
        "actor": tx.actor,
        "reason": reason,
    }
    outbox.record(tx, job_switches, [row], at)


def switched_off(tx: Transaction, among: Collection[str] | None = None) -> set[str]:
    """Ids of switched-off jobs, optionally ``among`` some."""
    if among is not None and not among:
        return set()
    query = _last(tx.org_id, among, job_switches.c.job_id)
    return set(tx.scalars(query.where(job_switches.c.enabled.is_(False))))


def last_switches(tx: Transaction, among: Collection[str] | None = None) -> dict[str, Switch]:
    """The last switch per job id, optionally ``among`` some."""
    rows = tx.execute(_last(tx.org_id, among, *job_switches.c))
    return {
        row.job_id: Switch(enabled=row.enabled, at=row.switched_at, by=row.actor, reason=row.reason)
        for row in rows
    }


def _last(org_id: str, among: Collection[str] | None, *columns: ColumnElement[Any]) -> Select[Any]:
    numbers = select(job_switches.c.job_id, func.max(job_switches.c.number).label("number"))
    numbers = numbers.where(job_switches.c.org_id == org_id)
    if among is not None:
        numbers = numbers.where(job_switches.c.job_id.in_(sorted(among)))
    last = numbers.group_by(job_switches.c.job_id).subquery()
    return select(*columns).where(
        job_switches.c.org_id == org_id,
        job_switches.c.job_id == last.c.job_id,
        job_switches.c.number == last.c.number,
    )

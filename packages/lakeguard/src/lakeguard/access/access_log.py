"""The access log: refused calls, calls that change something, and sight of personal values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select

from lakeguard.access.principal import Principal
from lakeguard.state import outbox
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import access_log
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant
from lakeguard_sdk.core.ids import new_id

PERSONAL = "read_personal"
"""The action of a row that says whose personal values were shown to whom."""


class AccessRow(FrozenModel):
    access_id: str
    accessed_at: Instant
    principal_kind: str
    principal_id: str
    principal: str
    action: str
    method: str
    dataset: str | None = None
    allowed: bool
    reason: str | None = None


@dataclass(frozen=True)
class Access:
    """One call, before it is made."""

    method: str
    action: str
    datasets: tuple[str, ...] = ()
    """Several for a plan; none for the organisation."""


def record_access(
    state: OrganisationState, principal: Principal, access: Access, refused: str = ""
) -> None:
    """A row for each dataset, each with the one principal."""
    with state.write() as tx:
        at = tx.now()
        rows = [
            {
                "access_id": new_id("acc"),
                "org_id": tx.org_id,
                "accessed_at": at,
                "principal_kind": principal.kind.value,
                "principal_id": principal.id,
                "principal": principal.name,
                "action": access.action,
                "method": access.method,
                "dataset": dataset,
                "allowed": not refused,
                "reason": refused or None,
            }
            for dataset in access.datasets or (None,)
        ]
        outbox.record(tx, access_log, rows, at)


def access_rows(
    tx: Transaction,
    *,
    since: datetime | None = None,
    principal: str | None = None,
    dataset: str | None = None,
    refused: bool = False,
    limit: int = 50,
) -> list[AccessRow]:
    """Newest first; with ``refused`` only what was refused."""
    table = access_log.c
    query = select(*(table[name] for name in AccessRow.model_fields))
    query = query.where(table.org_id == tx.org_id)
    if since is not None:
        query = query.where(table.accessed_at >= since)
    if principal is not None:
        query = query.where(table.principal == principal)
    if dataset is not None:
        query = query.where(table.dataset == dataset)
    if refused:
        query = query.where(table.allowed.is_(False))
    found: Any = tx.execute(
        query.order_by(table.accessed_at.desc(), table.access_id.desc()).limit(limit)
    )
    return [AccessRow(**row._mapping) for row in found]

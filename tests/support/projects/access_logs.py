"""Reads the access log."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from lakeguard.state.schema import access_log
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant


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


def access_rows(tx: Transaction, *, refused: bool = False) -> list[AccessRow]:
    """Newest first; with ``refused`` only refused calls."""
    table = access_log.c
    query = select(*(table[name] for name in AccessRow.model_fields))
    query = query.where(table.org_id == tx.org_id)
    if refused:
        query = query.where(table.allowed.is_(False))
    found: Any = tx.execute(query.order_by(table.accessed_at.desc(), table.access_id.desc()))
    return [AccessRow(**row._mapping) for row in found]

"""Outbox rows, written in the transaction of what they tell."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert

from lakeguard.state.tables import outbox
from lakeguard_sdk.canonical import canonical_json


def append(
    connection: Connection, org_id: str, topic: str, payload: dict[str, Any], at: datetime
) -> None:
    """Tell the world ``payload`` about ``topic``, if and only if this transaction commits."""
    connection.execute(
        insert(outbox).values(
            org_id=org_id, topic=topic, payload=canonical_json(payload), created_at=at
        )
    )

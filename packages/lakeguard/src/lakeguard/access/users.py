"""Users are created on first use."""

from __future__ import annotations

import hashlib

from sqlalchemy import select

from lakeguard.state.bulk_writes import insert_into
from lakeguard.state.schema import users
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.errors import BadUserName

OPERATOR = "operator"
"""The default role."""
LONGEST_NAME = 128


def known_user(tx: Transaction, name: str) -> str:
    """The user's id, created if missing; safe under concurrency."""
    at = tx.now()
    checked = check_user_name(name)
    user_id = _user_id(tx.org_id, checked)
    row = {
        "user_id": user_id,
        "org_id": tx.org_id,
        "user_name": checked,
        "role": OPERATOR,
        "created_at": at,
    }
    tx.execute(insert_into(tx, users).values(**row).on_conflict_do_nothing())
    return user_id


def user_names(tx: Transaction) -> list[str]:
    """All users of the organisation."""
    query = select(users.c.user_name).where(users.c.org_id == tx.org_id)
    return list(tx.scalars(query.order_by(users.c.user_name)))


def check_user_name(name: str) -> str:
    if not 1 <= len(name) <= LONGEST_NAME:
        raise BadUserName(name=name[:40], problem=f"it has 1 to {LONGEST_NAME} characters")
    if not name.isprintable() or name != name.strip():
        raise BadUserName(name=name[:40], problem="it has characters that nobody sees")
    return name


def _user_id(org_id: str, name: str) -> str:
    digest = hashlib.sha256(f"{org_id}\0{name}".encode()).hexdigest()
    return f"usr_{digest[:32]}"

"""Users are created by their first action or sign-in, or by an admin."""

from __future__ import annotations

import getpass
import hashlib

from sqlalchemy import select

from lakeguard.state import outbox
from lakeguard.state.schema import users
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.errors import BadUserName, UnknownUser

OPERATOR = "operator"
"""Origin of a user who ran a command in the project folder."""
MEMBER = "member"
"""Origin of a user who signed in, or whom an admin created."""
LONGEST_NAME = 128


def local_user() -> str:
    """The operating system user of this process."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"


def known_user(tx: Transaction, name: str, origin: str = OPERATOR) -> str:
    """The user's id, created if missing; safe under concurrency."""
    at = tx.now()
    checked = check_user_name(name)
    user_id = _user_id(tx.org_id, checked)
    row = {
        "user_id": user_id,
        "org_id": tx.org_id,
        "user_name": checked,
        "role": origin,
        "created_at": at,
    }
    outbox.record_once(tx, users, row, at)
    return user_id


def find_user(tx: Transaction, name: str) -> str:
    """The user's id; raises ``UnknownUser``."""
    user_id = _user_id(tx.org_id, name)
    found = select(users.c.user_id).where(users.c.org_id == tx.org_id, users.c.user_id == user_id)
    if tx.scalar(found) is None:
        raise UnknownUser(user=name[:LONGEST_NAME])
    return user_id


PROGRAMS = ("token:", "task:")
"""Prefixes of the names of service tokens and tasks, which no user name may have."""


def is_program(name: str) -> bool:
    return name.startswith(PROGRAMS)


def check_user_name(name: str) -> str:
    if not 1 <= len(name) <= LONGEST_NAME:
        raise BadUserName(name=name[:40], problem=f"it has 1 to {LONGEST_NAME} characters")
    if not name.isprintable() or name != name.strip():
        raise BadUserName(name=name[:40], problem="use printable characters, no outer spaces")
    if is_program(name):
        raise BadUserName(name=name[:40], problem="only tokens and tasks have such a name")
    return name


def _user_id(org_id: str, name: str) -> str:
    digest = hashlib.sha256(f"{org_id}\0{name}".encode()).hexdigest()
    return f"usr_{digest[:32]}"

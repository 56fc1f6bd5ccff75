"""Refuses targets that would write to the State database.

This compares addresses only. Two addresses may still lead to the same database, so the writer
also checks the database itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import parse_qsl, unquote, urlsplit

from sqlalchemy import URL

from lakeguard_sdk.core.enums import TargetFormat
from lakeguard_sdk.errors import StateDatabaseShared
from lakeguard_sdk.model.definitions import TargetDefinition

DEFAULT_PORT = 5432
_HERE = frozenset({"", "localhost", "127.0.0.1", "::1"})

Place = tuple[str, int, str]
"""Host, port and database; all names and sockets of this machine are one host."""


def require_apart(targets: Iterable[TargetDefinition], state: URL) -> None:
    """Raise ``StateDatabaseShared`` for the first target at the State's address."""
    if state.get_backend_name() != "postgresql":
        return
    options = {key: str(value) for key, value in state.query.items()}
    state_place = place_of(state.host or options.get("host", ""), state.port, state.database or "")
    for target in targets:
        if target.format is TargetFormat.POSTGRESQL and _place(target.url) == state_place:
            raise StateDatabaseShared(target=target.target)


def place_of(host: str, port: int | None, database: str) -> Place:
    here = host.lower().rstrip(".") in _HERE or host.startswith("/")
    return "" if here else host.lower().rstrip("."), port or DEFAULT_PORT, database


def _place(url: str) -> Place:
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query))
    host = parts.hostname or options.get("host", "")
    return place_of(host, parts.port, unquote(parts.path.removeprefix("/")))

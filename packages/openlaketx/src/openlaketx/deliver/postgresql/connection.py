"""Connections to a target's database: secrets are looked up here, and being alone is decided."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from lakeguard_sdk.model.delivery import DatabaseTable
from lakeguard_sdk.model.read_models import ResolvedDataset
from lakeguard_sdk.security.secret_references import resolve_all, without
from openlaketx.deliver.published_version import failed
from openlaketx.engine.shown_values import foreign_words

Connection = psycopg.Connection[tuple[Any, ...]]

_CLIENT: dict[str, Any] = {
    "application_name": "openlaketx",
    "client_encoding": "utf8",
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
_SESSION = {
    "TimeZone": "UTC",
    "DateStyle": "ISO",
    "search_path": "pg_catalog",
    "lock_timeout": "10min",
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
}
"""The server too notices that a machine is gone, and frees what it held."""
_SHORT_WAIT = "SELECT set_config('lock_timeout', '30s', true)"
_ABOUT_VALUES = ("22", "23")
"""States of PostgreSQL whose messages repeat what could not be written."""
_HOLD = "SELECT pg_advisory_xact_lock(%s)"


@contextmanager
def connected(table: DatabaseTable, shown: ResolvedDataset) -> Iterator[Connection]:
    """A connection that commits nothing by itself but what a transaction holds.

    What the database refuses is told without the secrets, which its own messages may repeat.
    """
    secrets = resolve_all(table.secrets)
    try:
        with opened(table.url, secrets) as connection:
            yield connection
    except psycopg.Error as error:
        told = without(str(error), secrets.values())
        line = next((line for line in told.splitlines() if line.strip()), type(error).__name__)
        if (error.sqlstate or "").startswith(_ABOUT_VALUES):
            line = foreign_words(line, type(error).__name__)
        raise failed(shown, line) from None


@contextmanager
def opened(url: str, secrets: dict[str, str]) -> Iterator[Connection]:
    """As every session of ours is; what goes wrong is the database's own error."""
    given: dict[str, Any] = {**_CLIENT, **secrets}
    with psycopg.connect(url, autocommit=True, **given) as connection:
        calls = ", ".join("set_config(%s, %s, false)" for _ in _SESSION)
        words = [word for pair in _SESSION.items() for word in pair]
        connection.execute(f"SELECT {calls}".encode(), words)
        # What is read after a wait must be what is there then, whatever the server's own choice.
        connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
        yield connection


def hold(connection: Connection, *name: str) -> None:
    """Nobody else holds the name until this transaction ends; whoever comes second waits."""
    digest = hashlib.sha256("\0".join(("openlaketx.deliver", *name)).encode()).digest()
    key = int.from_bytes(digest[:8], "big", signed=True)
    connection.execute(_HOLD, [key])


def wait_shortly(connection: Connection) -> None:
    """From here on, in this transaction, readers of the table are not kept waiting for long."""
    connection.execute(_SHORT_WAIT)

"""Connections to a target's database: resolves secrets and takes the delivery lock."""

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
from openlaketx.engine.shown_values import masked_message

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
"""The server detects a lost client too, and releases its locks."""
_SHORT_WAIT = "SELECT set_config('lock_timeout', '30s', true)"
_ABOUT_VALUES = ("22", "23")
"""SQLSTATEs whose messages contain the rejected value."""
_HOLD = "SELECT pg_advisory_xact_lock(%s)"


@contextmanager
def connected(table: DatabaseTable, shown: ResolvedDataset) -> Iterator[Connection]:
    """A connection without autocommit.

    Database errors are reported without secrets, which the original messages may contain.
    """
    secrets = resolve_all(table.secrets)
    try:
        with opened(table.url, secrets) as connection:
            yield connection
    except psycopg.Error as error:
        message = without(str(error), secrets.values())
        line = next((line for line in message.splitlines() if line.strip()), type(error).__name__)
        if (error.sqlstate or "").startswith(_ABOUT_VALUES):
            line = masked_message(line, type(error).__name__)
        raise failed(shown, line) from None


@contextmanager
def opened(url: str, secrets: dict[str, str]) -> Iterator[Connection]:
    """With the settings of all our sessions; raises the database's own errors."""
    given: dict[str, Any] = {**_CLIENT, **secrets}
    with psycopg.connect(url, autocommit=True, **given) as connection:
        calls = ", ".join("set_config(%s, %s, false)" for _ in _SESSION)
        words = [word for pair in _SESSION.items() for word in pair]
        connection.execute(f"SELECT {calls}".encode(), words)
        # reads after waiting for the lock must see the latest data, whatever the server's default
        connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
        yield connection


def hold(connection: Connection, *name: str) -> None:
    """Takes the delivery lock until the transaction ends; a second delivery waits."""
    digest = hashlib.sha256("\0".join(("openlaketx.deliver", *name)).encode()).digest()
    key = int.from_bytes(digest[:8], "big", signed=True)
    connection.execute(_HOLD, [key])


def wait_shortly(connection: Connection) -> None:
    """Limits the lock wait of this transaction, so that readers of the table do not queue for
    long."""
    connection.execute(_SHORT_WAIT)

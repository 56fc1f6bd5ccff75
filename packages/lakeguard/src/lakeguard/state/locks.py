"""Named locks, held for a transaction or for the life of a process."""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import ARRAY, BigInteger, Connection, Engine, bindparam, func, select

from lakeguard.state.transaction import Transaction

SCHEMA = "lakeguard_schema"
"""The engine's execution option that names its PostgreSQL schema."""

_PAUSE_SECONDS = 0.05


def hold(tx: Transaction, name: str) -> None:
    """Lock ``name`` exclusively until this transaction ends; others wait.

    A no-op on SQLite, which has one writer at a time.
    """
    hold_for_connection(tx.connection, name)


def hold_for_connection(connection: Connection, name: str) -> None:
    """Like ``hold``, outside any organisation."""
    if connection.dialect.name == "postgresql":
        key = bindparam("key", _key(_schema(connection), name), BigInteger)
        connection.execute(select(func.pg_advisory_xact_lock(key)))


def hold_shared(tx: Transaction, name: str) -> None:
    """Like ``hold``, but shared: an exclusive holder waits for all sharers."""
    if tx.dialect.name == "postgresql":
        key = bindparam("key", _key(_schema(tx.connection), name), BigInteger)
        tx.execute(select(func.pg_advisory_xact_lock_shared(key)))


def hold_all(tx: Transaction, names: Sequence[str]) -> None:
    """Lock many names in a fixed order, so that callers cannot deadlock each other."""
    if tx.dialect.name == "postgresql" and names:
        keys = sorted(_key(_schema(tx.connection), name) for name in names)
        given = func.unnest(bindparam("keys", keys, ARRAY(BigInteger))).column_valued("key")
        tx.execute(select(func.pg_advisory_xact_lock(given)))


def try_hold_all(tx: Transaction, names: Sequence[str]) -> list[str]:
    """Lock those names that are free, without waiting; return them."""
    if tx.dialect.name != "postgresql" or not names:
        return list(names)
    keys = {_key(_schema(tx.connection), name): name for name in names}
    given = func.unnest(bindparam("keys", list(keys), ARRAY(BigInteger))).column_valued("key")
    tried = tx.execute(select(given, func.pg_try_advisory_xact_lock(given)))
    return [keys[key] for key, got in tried if got]


@contextmanager
def sole_by_session(engine: Engine, name: str, wait_seconds: float) -> Iterator[bool]:
    """A dedicated session holds the lock, so it is released when the process or machine dies."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.detach()
        key = bindparam("key", _key(_schema(connection), name), BigInteger)
        attempt = select(func.pg_try_advisory_lock(key))
        yield _in_time(wait_seconds, lambda: bool(connection.scalar(attempt)))


@contextmanager
def sole_by_file(path: Path, wait_seconds: float) -> Iterator[bool]:
    """An open file holds the lock; the system closes it when the process ends.

    The file is kept: deleting it would let a second process lock a new file of the same name.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        yield _in_time(wait_seconds, lambda: _locked(handle))
    finally:
        os.close(handle)


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _in_time(wait_seconds: float, attempt: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + wait_seconds
    while not attempt():
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(left, _PAUSE_SECONDS))
    return True


def _schema(connection: Connection) -> str:
    return str(connection.get_execution_options()[SCHEMA])


def _key(schema: str, name: str) -> int:
    """Advisory lock key: 64 bits of a hash, as the key space is shared by the whole database."""
    digest = hashlib.sha256("\0".join(("lakeguard", schema, name)).encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)

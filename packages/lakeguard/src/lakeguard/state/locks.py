"""Named locks, held for a transaction or for the life of a process."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    Engine,
    String,
    bindparam,
    func,
    literal_column,
    select,
)

from lakeguard.state.transaction import Transaction

SCHEMA = "lakeguard_schema"
"""The engine's execution option that names its PostgreSQL schema."""

_PAUSE_SECONDS = 0.05


def full_name(connection: Connection, name: str) -> str:
    """The name of a lock in its database, which may have other schemas of ours."""
    return f"lakeguard\n{connection.get_execution_options()[SCHEMA]}\n{name}"


def key_of(name: ColumnElement[str]) -> ColumnElement[int]:
    """The advisory key of a full name: 64 bits of a hash, as a whole database shares the keys."""
    return func.hashtextextended(name, literal_column("0"))


_KEY = key_of(bindparam("name", type_=String))
_HOLD = select(func.pg_advisory_xact_lock(_KEY))
_SHARE = select(func.pg_advisory_xact_lock_shared(_KEY))
_TRY_SESSION = select(func.pg_try_advisory_lock(_KEY))
_NAMES = func.unnest(bindparam("names", type_=ARRAY(String))).column_valued("name")
_SORTED = select(key_of(_NAMES).label("key")).order_by("key").subquery()
_HOLD_ALL = select(func.pg_advisory_xact_lock(_SORTED.c.key))
_TRY_ALL = select(_NAMES, func.pg_try_advisory_xact_lock(key_of(_NAMES)))


def hold(tx: Transaction, name: str) -> None:
    """Lock ``name`` exclusively until this transaction ends; others wait.

    A no-op on SQLite, which has one writer at a time.
    """
    hold_for_connection(tx.connection, name)


def hold_for_connection(connection: Connection, name: str) -> None:
    """Like ``hold``, outside any organisation."""
    if connection.dialect.name == "postgresql":
        connection.execute(_HOLD, {"name": full_name(connection, name)})


def hold_shared(tx: Transaction, name: str) -> None:
    """Like ``hold``, but shared: an exclusive holder waits for all sharers."""
    if tx.dialect.name == "postgresql":
        tx.execute(_SHARE, {"name": full_name(tx.connection, name)})


def hold_all(tx: Transaction, names: Sequence[str]) -> None:
    """Lock many names in a fixed order, so that callers cannot deadlock each other."""
    if tx.dialect.name == "postgresql" and names:
        tx.execute(_HOLD_ALL, {"names": [full_name(tx.connection, name) for name in names]})


def try_hold_all(tx: Transaction, names: Sequence[str]) -> list[str]:
    """Lock those names that are free, without waiting; return them."""
    if tx.dialect.name != "postgresql" or not names:
        return list(names)
    known = {full_name(tx.connection, name): name for name in names}
    tried = tx.execute(_TRY_ALL, {"names": list(known)})
    return [known[name] for name, got in tried if got]


@contextmanager
def sole_by_session(engine: Engine, name: str, wait_seconds: float) -> Iterator[bool]:
    """A dedicated session holds the lock, so it is released when the process or machine dies."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.detach()
        given = {"name": full_name(connection, name)}
        yield _in_time(wait_seconds, lambda: bool(connection.scalar(_TRY_SESSION, given)))


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

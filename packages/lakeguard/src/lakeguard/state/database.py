"""Durable transactions on the State, on the schema revision this version needs."""

from __future__ import annotations

import random
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import (
    DatabaseError,
    DBAPIError,
    InternalError,
    OperationalError,
    ProgrammingError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import NullPool

from lakeguard.state.clock import ServerClock, machine_clock
from lakeguard.state.connections import (
    READING,
    AutocommitConnections,
    CommitUnknown,
    begin_as,
    connect_as,
    no_ping_if_just_used,
    postgresql_engine,
    sqlite_engine,
    sqlite_path,
)
from lakeguard.state.failures import meaning_of, truncation_of
from lakeguard.state.locks import sole_by_file, sole_by_session
from lakeguard.state.schema_revision import SCHEMA_HEAD
from lakeguard_sdk.backoff import Backoff
from lakeguard_sdk.errors import (
    StateCommitUnknown,
    StateDamaged,
    StateMismatch,
    StateMissing,
    StateRefused,
    StateUnavailable,
)

T = TypeVar("T")

DEFAULT_SCHEMA = "lakeguard"


class Database:
    """Transactions on the State, a SQLite file or a schema of a PostgreSQL database.

    Each is for an organisation: a role of PostgreSQL that row-level security binds sees its rows
    only, and none without one. ``password`` is called for every new connection and never logged.
    """

    def __init__(
        self,
        url: str | URL,
        schema: str = DEFAULT_SCHEMA,
        password: Callable[[], str] | None = None,
    ) -> None:
        self.url = make_url(url)
        self.schema = schema
        self._path = sqlite_path(self.url)
        if self.url.get_backend_name() == "sqlite":
            self.engine, self._autocommit = sqlite_engine(self.url), None
            self.clock: Callable[[], datetime] = machine_clock
        else:
            self.engine = postgresql_engine(self.url, schema, password)
            self._autocommit = AutocommitConnections(self.engine, self.url, schema, password)
            beside = postgresql_engine(self.url, schema, password, NullPool)
            self.clock = ServerClock(beside)
            weakref.finalize(self, self._autocommit.close)
        self.commits = 0
        """Changes with every write of this process; not an exact count."""
        weakref.finalize(self, self.engine.dispose)  # no connection outlives its thread

    @property
    def place(self) -> str:
        shown = self.url.set(drivername=self.url.get_backend_name())
        text = shown.render_as_string(hide_password=True)
        return text if self.engine.dialect.name == "sqlite" else f"{text} ({self.schema})"

    @property
    def writers(self) -> int:
        """How many writers of one process are useful: one prepares while the server works for the
        other."""
        return 2 if self.engine.dialect.name == "postgresql" else 1

    @contextmanager
    def write(self, org_id: str = "") -> Iterator[Connection]:
        """A write transaction: everything becomes visible at once, or nothing.

        SQLite has one writer at a time. On PostgreSQL writers run concurrently (READ COMMITTED):
        constraints, row locks and ``locks.hold`` prevent duplicates. The victim of a deadlock or
        lock timeout gets StateUnavailable and may retry; StateCommitUnknown says that it
        is unknown whether it was committed.
        """
        with self._reachable(), begin_as(self.engine, org_id) as connection:
            yield connection
        self.commits += 1

    def transact(self, work: Callable[[Connection], T], org_id: str = "") -> T:
        """The result of ``work`` in a write transaction, retried if the database rolled it back
        (deadlock, serialisation failure, session lost before the commit).

        A transaction that may have committed is not retried: ``StateCommitUnknown`` is raised.
        """
        with self._reachable(), no_ping_if_just_used():
            answer = transact(self.engine, work, org_id=org_id)
        self.commits += 1
        return answer

    def autocommit(self, work: Callable[[Connection], T], org_id: str = "") -> T:
        """The result of ``work`` on a connection of PostgreSQL in autocommit mode.

        Not retried: a statement may have committed before its session was lost. An error of the
        driver is raised as ``StateUnavailable``.
        """
        if self._autocommit is None:
            raise ValueError("SQLite has transactions only")
        try:
            with self._reachable(), self._autocommit.connection(org_id) as connection:
                answer = work(connection)
        except self.engine.dialect.loaded_dbapi.Error as error:
            shown = getattr(error.diag, "message_primary", None) or type(error).__name__
            raise StateUnavailable(place=self.place, reason=shown) from None  # no rows in logs
        self.commits += 1
        return answer

    @contextmanager
    def read(self, org_id: str = "") -> Iterator[Connection]:
        """A read-only snapshot: concurrent commits are not visible."""
        options = READING[self.engine.dialect.name]
        with (
            self._reachable(),
            connect_as(self.engine, org_id).execution_options(**options) as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def sole(self, name: str, wait_seconds: float) -> Iterator[bool]:
        """Whether this process now holds lock ``name``; others get False, or wait up to a limit.

        Released when the holder dies. It avoids duplicate work but is not a fence: a holder cut
        off from its server does not notice.
        """
        with self._reachable(), self._sole(name, wait_seconds) as held:
            yield held

    def _sole(self, name: str, wait_seconds: float) -> AbstractContextManager[bool]:
        if self.engine.dialect.name == "postgresql":
            return sole_by_session(self.engine, name, wait_seconds)
        if self._path is None:  # in memory: not visible to other processes
            return nullcontext(True)
        lock = self._path.with_name(f"{self._path.name}.{name}.lock")
        return sole_by_file(lock, wait_seconds)

    @contextmanager
    def _reachable(self) -> Iterator[None]:
        try:
            yield
        except CommitUnknown as error:
            raise StateCommitUnknown(place=self.place, reason=_first_line(error)) from error
        except PoolTimeout as error:
            raise StateUnavailable(place=self.place, reason=_first_line(error)) from error
        except DBAPIError as error:
            meaning = meaning_of(error.orig)
            if meaning is not None:
                raise meaning(place=self.place, reason=_first_line(error.orig)) from error
            passing = type(error) in (DatabaseError, OperationalError)
            if not passing and not error.connection_invalidated:
                raise
            raise StateUnavailable(place=self.place, reason=_first_line(error.orig)) from error

    def migrate(self) -> None:
        """Migrate an empty or older schema to this version's; a newer one is refused.

        Safe to call from many processes at once. Foreign tables in the schema are left alone.
        """
        if self.revision() == SCHEMA_HEAD:
            return
        from lakeguard.state.migrate import upgrade

        with self._reachable():
            try:
                upgrade(self.engine, self.place)
            except (
                ProgrammingError,
                InternalError,
            ) as error:  # missing privilege, name taken, object in use
                raise StateRefused(place=self.place, reason=_first_line(error.orig)) from error

    def check(self) -> None:
        """Raise unless the schema is exactly the one this version needs."""
        found = self.revision()
        if found is None:
            raise StateMissing(place=self.place)
        if found != SCHEMA_HEAD:
            raise StateMismatch(place=self.place, found=found, needed=SCHEMA_HEAD)

    def revision(self) -> str | None:
        """The schema's revision, or None; never creates anything."""
        if self._path is not None and not self._path.exists():
            return None
        if self._path is not None and (problem := truncation_of(self._path)):
            raise StateDamaged(place=self.place, reason=problem)
        with self.read() as connection:
            if not inspect(connection).has_table("alembic_version"):
                return None
            row = connection.execute(text("SELECT version_num FROM alembic_version")).first()
        return None if row is None else str(row[0])

    def close(self) -> None:
        self.engine.dispose()
        if self._autocommit is not None:
            self._autocommit.close()


def sqlite_url(path: Path) -> URL:
    """The URL of a SQLite file, with special characters escaped."""
    return URL.create("sqlite", database=str(path))


def _first_line(error: Any) -> str:
    """The first line only: servers add details and hints on further lines."""
    return str(error).strip().partition("\n")[0]


# Retries of transactions that the database rolled back.

_THROWN_AWAY = frozenset({"40001", "40P01"})
"""Serialisation failure and deadlock: the transaction was rolled back."""
_TIMES = 8
_BACKOFF = Backoff(first=0.005, longest=1.0)


def transact(
    engine: Engine,
    work: Callable[[Connection], T],
    sleep: Callable[[float], object] = time.sleep,
    *,
    org_id: str = "",
) -> T:
    """The result of ``work``, retried for each transaction that was rolled back.

    A session lost during its commit may have committed and is not retried.
    """
    for pause in _pauses():
        try:
            return _once(engine, work, org_id)
        except _Again:
            sleep(pause)
    with begin_as(engine, org_id) as connection:
        return work(connection)


class _Again(Exception):
    pass


def _once(engine: Engine, work: Callable[[Connection], T], org_id: str) -> T:
    try:
        with begin_as(engine, org_id) as connection:
            return work(connection)
    except DBAPIError as error:
        thrown_away = getattr(error.orig, "sqlstate", None) in _THROWN_AWAY
        if thrown_away or error.connection_invalidated:
            raise _Again from error
        raise


def _pauses() -> Iterator[float]:
    """Exponential backoff with jitter."""
    for longest in islice(_BACKOFF.delays(), _TIMES - 1):
        yield longest * random.random()  # noqa: S311 - spreads load

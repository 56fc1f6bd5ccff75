"""The SQL engine: transactions, durable, on the schema this version needs."""

from __future__ import annotations

import random
import re
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
    postgresql_engine,
    sqlite_engine,
    sqlite_path,
)
from lakeguard.state.locks import sole_by_file, sole_by_session
from lakeguard.state.schema_revision import SCHEMA_HEAD
from lakeguard_sdk.backoff import Backoff
from lakeguard_sdk.errors import (
    StateMismatch,
    StateMissing,
    StateRefused,
    StateShut,
    StateUnavailable,
)

T = TypeVar("T")

DEFAULT_SCHEMA = "lakeguard"
_NO_RIGHT = "42501"


class Database:
    """Transactions on the State, a SQLite file or a schema of a PostgreSQL database.

    ``password`` is asked for each time a connection is made, and never shown.
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
            self.engine = sqlite_engine(self.url)
            self.clock: Callable[[], datetime] = machine_clock
        else:
            self.engine = postgresql_engine(self.url, schema, password)
            beside = postgresql_engine(self.url, schema, password, NullPool)
            self.clock = ServerClock(beside)
        self.commits = 0
        """Changes with every write of this process; it is no exact count."""
        weakref.finalize(self, self.engine.dispose)  # no connection outlives who could use it

    @property
    def place(self) -> str:
        shown = self.url.set(drivername=self.url.get_backend_name())
        text = shown.render_as_string(hide_password=True)
        return text if self.engine.dialect.name == "sqlite" else f"{text} ({self.schema})"

    @property
    def writers(self) -> int:
        """How many of one process may usefully write side by side: one prepares while the server
        works for the other."""
        return 2 if self.engine.dialect.name == "postgresql" else 1

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """All of it becomes visible at once, or nothing.

        On SQLite a writer is alone. On PostgreSQL writers work side by side (READ COMMITTED):
        what must not happen twice is held by a constraint, a row lock or ``locking.hold``.
        Whoever lost a deadlock, or waited too long, gets StateUnavailable and may try again.
        """
        with self._reachable(), self.engine.begin() as connection:
            yield connection
        self.commits += 1

    def transact(self, work: Callable[[Connection], T]) -> T:
        """The answer of ``work``, which is done in one writing transaction, again where the
        database threw the transaction away: it lost a deadlock, or the session before its end.

        What may have been committed is not done again: ``StateUnavailable`` says so.
        """
        with self._reachable():
            answer = transact(self.engine, work)
        self.commits += 1
        return answer

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """One snapshot: what others commit meanwhile is not seen, and nothing can be written."""
        options = READING[self.engine.dialect.name]
        with (
            self._reachable(),
            self.engine.connect().execution_options(**options) as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def sole(self, name: str, wait_seconds: float) -> Iterator[bool]:
        """Whether this process alone holds ``name`` now; others get False, or wait their time.

        The death of the holder frees it. It keeps work from being done twice; it is no fence: a
        holder cut off from its server goes on believing.
        """
        with self._reachable(), self._sole(name, wait_seconds) as held:
            yield held

    def _sole(self, name: str, wait_seconds: float) -> AbstractContextManager[bool]:
        if self.engine.dialect.name == "postgresql":
            return sole_by_session(self.engine, name, wait_seconds)
        if self._path is None:  # in memory: no other process can see it
            return nullcontext(True)
        lock = self._path.with_name(f"{self._path.name}.{name}.lock")
        return sole_by_file(lock, wait_seconds)

    @contextmanager
    def _reachable(self) -> Iterator[None]:
        try:
            yield
        except PoolTimeout as error:
            raise StateUnavailable(place=self.place, reason=_first_line(error)) from error
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", None) == _NO_RIGHT:
                raise StateRefused(place=self.place, reason=_first_line(error.orig)) from error
            if _lets_nobody_in(error.orig):
                raise StateShut(place=self.place, reason=_first_line(error.orig)) from error
            passing = type(error) in (DatabaseError, OperationalError)
            if not passing and not error.connection_invalidated:
                raise
            raise StateUnavailable(place=self.place, reason=_first_line(error.orig)) from error

    def migrate(self) -> None:
        """Bring an empty or older schema to this version's; a newer one is refused.

        Safe to call from many processes at once. Tables of others in the schema stay as they are.
        """
        if self.revision() == SCHEMA_HEAD:
            return
        from lakeguard.state.migrate import upgrade

        with self._reachable():
            try:
                upgrade(self.engine, self.place)
            except (ProgrammingError, InternalError) as error:  # no right, a name taken, in use
                raise StateRefused(place=self.place, reason=_first_line(error.orig)) from error

    def check(self) -> None:
        """Raise unless the schema is exactly the one this version needs."""
        found = self.revision()
        if found is None:
            raise StateMissing(place=self.place)
        if found != SCHEMA_HEAD:
            raise StateMismatch(place=self.place, found=found, needed=SCHEMA_HEAD)

    def revision(self) -> str | None:
        """The schema's revision, None where there is none; looking creates nothing."""
        if self._path is not None and not self._path.exists():
            return None
        with self.read() as connection:
            if not inspect(connection).has_table("alembic_version"):
                return None
            row = connection.execute(text("SELECT version_num FROM alembic_version")).first()
        return None if row is None else str(row[0])

    def close(self) -> None:
        self.engine.dispose()


def sqlite_url(path: Path) -> URL:
    """The address of a database file, whatever characters its name has."""
    return URL.create("sqlite", database=str(path))


def _first_line(error: Any) -> str:
    """A server adds details and hints on further lines."""
    return str(error).strip().partition("\n")[0]


# Whether a server lets nobody in, as it was asked: its own word, told from its being away.

_STATES = ("28", "3D000")
"""Of PostgreSQL: who asks is not known or proves nothing; there is no such database."""
_WORDS = re.compile(
    r"fe_sendauth: no password supplied"
    r"|FATAL:  (?:(?:password|Peer|certificate) authentication failed for user "
    r'|role ".*" (?:does not exist|is not permitted to log in)'
    r'|database ".*" does not exist'
    r"|permission denied for database "
    r"|no pg_hba\.conf entry |pg_hba\.conf rejects )"
)


def _lets_nobody_in(error: BaseException | None) -> bool:
    """Asking again would bring the same answer, until somebody changes what is asked or the server.

    While a connection is made the driver tells no state, only the server's words. Those of a server
    that speaks another language are not known: it counts as away.
    """
    state = getattr(error, "sqlstate", None)
    if state is not None:
        return str(state).startswith(_STATES)
    return _WORDS.search(str(error).strip().partition("\n")[0]) is not None


# Doing a transaction again that the database threw away. The one place where this is done.

_THROWN_AWAY = frozenset({"40001", "40P01"})
"""A serialisation failure, a lost deadlock: nothing of the transaction is left."""
_TIMES = 8
_BACKOFF = Backoff(first=0.005, longest=1.0)


def transact(
    engine: Engine, work: Callable[[Connection], T], sleep: Callable[[float], object] = time.sleep
) -> T:
    """What ``work`` answers; it is called once for each transaction that was thrown away.

    A session that is lost while its commit is under way may have committed: that is not repeated.
    """
    for pause in _pauses():
        try:
            return _once(engine, work)
        except _Again:
            sleep(pause)
    with engine.begin() as connection:
        return work(connection)


class _Again(Exception):
    pass


def _once(engine: Engine, work: Callable[[Connection], T]) -> T:
    committing = False
    try:
        with engine.begin() as connection:
            answer = work(connection)
            committing = True
        return answer
    except DBAPIError as error:
        thrown_away = getattr(error.orig, "sqlstate", None) in _THROWN_AWAY
        lost_before = error.connection_invalidated and not committing
        if thrown_away or lost_before:
            raise _Again from error
        raise


def _pauses() -> Iterator[float]:
    """Doubling, and by chance: who met once should not meet again."""
    for longest in islice(_BACKOFF.delays(), _TIMES - 1):
        yield longest * random.random()  # noqa: S311 - spreads load

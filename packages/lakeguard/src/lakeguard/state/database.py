"""The SQL engine: one transaction at a time, durable, on the schema this version needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DatabaseError, OperationalError

from lakeguard.state.head import SCHEMA_HEAD
from lakeguard_sdk.errors import StateMismatch, StateMissing, StateUnavailable

_READ = "lakeguard_read"


class Database:
    """Transactions on the State: ``write`` serialises with every other writer."""

    def __init__(self, url: str | URL) -> None:
        self.url = make_url(url)
        self.engine = _engine(self.url)

    @property
    def place(self) -> str:
        return self.url.render_as_string(hide_password=True)

    @contextmanager
    def write(self) -> Iterator[Connection]:
        with self._reachable(), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        with (
            self._reachable(),
            self.engine.connect().execution_options(**{_READ: True}) as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def _reachable(self) -> Iterator[None]:
        try:
            yield
        except DatabaseError as error:
            if type(error) not in (DatabaseError, OperationalError):
                raise
            raise StateUnavailable(place=self.place, reason=error.orig) from error

    def migrate(self) -> None:
        """Bring an empty or older schema to this version's; a newer one is refused."""
        if self.revision() == SCHEMA_HEAD:
            return
        from lakeguard.state.migrating import upgrade

        upgrade(self.engine)

    def check(self) -> None:
        """Raise unless the schema is exactly the one this version needs."""
        found = self.revision()
        if found is None:
            raise StateMissing(place=self.place)
        if found != SCHEMA_HEAD:
            raise StateMismatch(place=self.place, found=found, needed=SCHEMA_HEAD)

    def revision(self) -> str | None:
        path = _sqlite_path(self.url)
        if path is not None and not path.exists():
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


def _sqlite_path(url: URL) -> Path | None:
    if url.get_backend_name() != "sqlite" or url.database in (None, "", ":memory:"):
        return None
    return Path(str(url.database))


def _engine(url: URL) -> Engine:
    path = _sqlite_path(url)
    engine = create_engine(url)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        if path is not None:
            event.listen(engine, "do_connect", lambda *_: _make_folder(path))
    return engine


def _make_folder(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    """The rollback journal, not WAL: some SQLite builds can corrupt a WAL when it is reset.

    Triggers are recursive, because REPLACE would otherwise delete without asking them.
    """
    connection.isolation_level = None
    for pragma in (
        "busy_timeout = 30000",
        "journal_mode = DELETE",
        "synchronous = FULL",
        "foreign_keys = ON",
        "recursive_triggers = ON",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    reading = connection.get_execution_options().get(_READ, False)
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")

"""Engines and connection settings for SQLite and PostgreSQL."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sqlalchemy import URL, Connection, Engine, ExceptionContext, create_engine, event
from sqlalchemy.exc import DBAPIError, InvalidatePoolError
from sqlalchemy.pool import Pool, QueuePool

from lakeguard.state.locks import SCHEMA

READING: dict[str, dict[str, Any]] = {
    "sqlite": {"lakeguard_read": True},
    "postgresql": {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True},
}
"""Execution options of a read-only snapshot connection."""


def is_reading(connection: Connection) -> bool:
    """Whether the connection is a read-only snapshot."""
    options = connection.get_execution_options()
    return READING[connection.dialect.name].items() <= options.items()


_PATIENCE_SECONDS = 30

_CLIENT = {
    "application_name": "lakeguard",
    "client_encoding": "utf8",
    "connect_timeout": 10,
    "keepalives": 1,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}

_SESSION = {
    "TimeZone": "UTC",
    "lock_timeout": f"{_PATIENCE_SECONDS}s",
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
}
"""TCP keepalives: a dead client is detected within a minute and its locks are released."""

_FIND_BY_KEY = {"enable_seqscan": "off"}
"""For statements that find each row by its key: a session that planned them, or the check of a
foreign key, while a table was empty would scan it until the next ANALYZE."""


# The organisation of a PostgreSQL connection is a setting of its session. It is only changed
# between transactions, so that no rollback can restore another one.

ORGANISATION = "lakeguard.organisation"
"""The setting that row-level security compares ``org_id`` with; empty shows no rows."""
_checkouts = threading.local()


def connect_as(engine: Engine, org_id: str) -> Connection:
    """A connection whose rows are those of the organisation, if its role is bound to one."""
    before = getattr(_checkouts, "org_id", "")
    _checkouts.org_id = org_id
    try:
        return engine.connect()
    finally:
        _checkouts.org_id = before


class CommitUnknown(Exception):
    """The connection was lost while it committed."""


@contextmanager
def begin_as(engine: Engine, org_id: str) -> Iterator[Connection]:
    """A transaction on such a connection. Raises ``CommitUnknown`` if it failed, but may have been
    committed."""
    committing = False
    try:
        with connect_as(engine, org_id) as connection, connection.begin():
            yield connection
            committing = True
    except DBAPIError as error:
        if committing and error.connection_invalidated:
            raise CommitUnknown(error.orig) from error
        raise


def _set_organisation(driver: Any, info: dict[str, Any], org_id: str) -> None:
    """Outside of any transaction. If it fails, the connection counts as one of no organisation."""
    info[ORGANISATION] = None
    automatic = driver.autocommit
    driver.autocommit = True
    driver.execute("SELECT set_config(%s, %s, false)", [ORGANISATION, org_id])
    driver.autocommit = automatic
    info[ORGANISATION] = org_id


def postgresql_engine(
    url: URL,
    schema: str,
    password: Callable[[], str] | None,
    pool: type[Pool] = QueuePool,
) -> Engine:
    return _postgresql_engine(
        url, schema, password, poolclass=pool, isolation_level="READ COMMITTED"
    )


class AutocommitConnections:
    """Connections beside those of ``engine``, in autocommit mode.

    They are not returned to a pool after each statement, nor is their mode changed: both take as
    long as a small statement.
    """

    def __init__(
        self, engine: Engine, url: URL, schema: str, password: Callable[[], str] | None
    ) -> None:
        self._engine = _postgresql_engine(
            url,
            schema,
            password,
            _FIND_BY_KEY,
            pool_reset_on_return=None,
            isolation_level="AUTOCOMMIT",
        )
        self._engine.update_execution_options(**{_BESIDE: engine})
        self._ready: list[tuple[Connection, float]] = []
        """Those that nobody uses, and when they were used last."""

    @contextmanager
    def connection(self, org_id: str) -> Iterator[Connection]:
        """One of the organisation that was used just now or that answers."""
        connection = self._taken(org_id)
        try:
            if connection.info[ORGANISATION] != org_id:
                driver = connection.connection.driver_connection
                _set_organisation(driver, connection.info, org_id)
            yield connection
        except BaseException:
            connection.invalidate()
            connection.close()
            raise
        self._ready.append((connection, time.monotonic()))

    def _taken(self, org_id: str) -> Connection:
        while self._ready:
            try:
                connection, used = self._ready.pop()
            except IndexError:  # another thread took it
                break
            if time.monotonic() - used < _IDLE_SECONDS:
                return connection
            connection.close()
        return connect_as(self._engine, org_id)

    def close(self) -> None:
        while self._ready:
            self._ready.pop()[0].close()
        self._engine.dispose()


_BESIDE = "lakeguard_beside"
"""The execution option of a State's second engine that has the first."""


def engine_of(connection: Connection) -> Engine:
    """The first engine of the connection's State, by which facts are remembered."""
    found: Engine = connection.get_execution_options().get(_BESIDE, connection.engine)
    return found


def _postgresql_engine(
    url: URL,
    schema: str,
    password: Callable[[], str] | None,
    session: Mapping[str, str] = MappingProxyType({}),
    **options: Any,
) -> Engine:
    engine = create_engine(
        url.set(drivername="postgresql+psycopg"),
        connect_args=_CLIENT,
        execution_options={SCHEMA: schema},
        hide_parameters=True,
        **options,
    )
    event.listen(engine, "checkin", _note_return)
    event.listen(engine, "checkout", partial(_check_out, engine))
    event.listen(engine, "handle_error", _leave_out_rows)
    if password is not None:
        event.listen(engine, "do_connect", partial(_add_password, password))
    event.listen(engine, "connect", partial(_prepare_postgresql, schema, session))
    return engine


_RETURNED = "returned"
_IDLE_SECONDS = 1.0
_pings = threading.local()


@contextmanager
def no_ping_if_just_used() -> Iterator[None]:
    """For callers that try again: a connection returned just now is taken as it is, which saves a
    round trip for each transaction."""
    before = getattr(_pings, "skip_recent", False)
    _pings.skip_recent = True
    try:
        yield
    finally:
        _pings.skip_recent = before


def _note_return(_connection: Any, record: Any) -> None:
    record.info[_RETURNED] = time.monotonic()


def _check_out(engine: Engine, connection: Any, record: Any, _proxy: Any) -> None:
    """A connection of the pool may be dead, like all others: the pool then opens new ones. One that
    another organisation used is given to this one by the same round trip."""
    org_id = getattr(_checkouts, "org_id", "")
    try:
        if record.info[ORGANISATION] != org_id:
            _set_organisation(connection, record.info, org_id)
        elif _may_be_dead(record):
            engine.dialect.do_ping(connection)
    except engine.dialect.loaded_dbapi.Error as error:
        raise InvalidatePoolError from error


def _may_be_dead(record: Any) -> bool:
    returned = record.info.get(_RETURNED)
    if returned is None:  # a new one
        return False
    recent = time.monotonic() - returned < _IDLE_SECONDS
    return not (getattr(_pings, "skip_recent", False) and recent)


def _add_password(
    password: Callable[[], str], _dialect: Any, _record: Any, _args: Any, parameters: dict[str, Any]
) -> None:
    parameters["password"] = password()


def _leave_out_rows(context: ExceptionContext) -> None:
    """Hide parameters and server details: errors are logged, and DETAIL quotes rows with tokens."""
    error = context.original_exception
    message = getattr(getattr(error, "diag", None), "message_primary", None)
    if message is None:
        return
    original, error.args = str(error), (message,)
    shown = context.sqlalchemy_exception
    if shown is not None:
        shown.args = tuple(str(each).replace(original, message) for each in shown.args)


def _prepare_postgresql(
    schema: str, session: Mapping[str, str], connection: Any, record: Any
) -> None:
    """Set search_path to our schema alone, whether it exists yet or not, and the organisation."""
    quoted = '"' + schema.replace('"', '""') + '"'
    org_id = getattr(_checkouts, "org_id", "")
    wanted = {**_SESSION, **session, "search_path": quoted, ORGANISATION: org_id}
    calls = ", ".join("set_config(%s, %s, false)" for _ in wanted)
    connection.execute(f"SELECT {calls}", [word for pair in wanted.items() for word in pair])
    connection.commit()
    record.info[ORGANISATION] = org_id


def sqlite_engine(url: URL) -> Engine:
    engine = create_engine(url, hide_parameters=True)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    path = sqlite_path(url)
    if path is not None:
        event.listen(engine, "do_connect", lambda *_: _make_folder(path))
    return engine


def sqlite_path(url: URL) -> Path | None:
    """The database file; None for in-memory databases and servers."""
    if url.get_backend_name() != "sqlite" or url.database in (None, "", ":memory:"):
        return None
    return Path(str(url.database))


def _make_folder(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    """Use the rollback journal, not WAL: some SQLite builds can corrupt a WAL on reset.

    Recursive triggers make REPLACE fire delete triggers.
    """
    connection.isolation_level = None
    for pragma in (
        f"busy_timeout = {_PATIENCE_SECONDS * 1000}",
        "journal_mode = DELETE",
        "synchronous = FULL",
        "foreign_keys = ON",
        "recursive_triggers = ON",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    reading = connection.get_execution_options().get("lakeguard_read", False)
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")

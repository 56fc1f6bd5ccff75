"""The State in a schema of a PostgreSQL database that others use too."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from sqlalchemy import inspect, text

from lakeguard.state.database import Database
from lakeguard.state.schema import metadata
from lakeguard.state.schema_revision import SCHEMA_HEAD
from lakeguard_sdk.errors import StateRefused
from tests.support.databases.databases import Server, discard

MIGRATE = """
import sys
from lakeguard.state.database import Database
from lakeguard.state import migrate
print("ready", flush=True)
sys.stdin.readline()
Database(sys.argv[1], sys.argv[2]).migrate()
"""


@pytest.fixture
def guest(server: Server) -> Iterator[str]:
    """A user who may connect and nothing else."""
    server.sql("CREATE ROLE guest LOGIN")
    yield server.url.replace("lakeguard@", "guest@")
    server.sql("DROP OWNED BY guest; DROP ROLE guest")


@pytest.mark.parametrize(
    "name", ["My Schema", 'we"ird', "ünïcode", "a'b\\c", "100%s %(x)s", "public.x", ":name", " "]
)
def test_a_schema_may_have_any_name(name: str, server: Server) -> None:
    database = Database(server.url, name)
    before = _schemas(database)
    database.migrate()
    database.check()
    with database.read() as connection:
        assert connection.scalar(text("SELECT current_schema()")) == name
    assert _schemas(database) - before == {name}
    with database.sole("reaper", 0) as held:
        assert held
    discard(database)


def _schemas(database: Database) -> set[str]:
    """Those of the server that hold a State, whosever they are."""
    where = text("SELECT schemaname FROM pg_tables WHERE tablename IN ('tasks', :versions)")
    with database.read() as connection:
        return set(connection.scalars(where, {"versions": "alembic_version"}))


def test_two_schemas_of_one_database_know_nothing_of_each_other(
    schema: Database, server: Server
) -> None:
    other = Database(server.url, f"{schema.schema} too")
    schema.migrate()
    assert other.revision() is None
    other.migrate()
    with schema.write() as connection:
        connection.execute(text("INSERT INTO documents VALUES ('h', 'o', '{}')"))
    with other.read() as connection:
        assert connection.scalar(text("SELECT count(*) FROM documents")) == 0
    with schema.sole("reaper", 0) as one, other.sole("reaper", 0) as two:
        assert (one, two) == (True, True)
    discard(other)


def test_tables_of_others_stay_as_they_are(schema: Database, server: Server) -> None:
    server.sql(f'CREATE SCHEMA "{schema.schema}"')
    server.sql(f'CREATE TABLE "{schema.schema}".mine (n int)')
    server.sql(f'INSERT INTO "{schema.schema}".mine VALUES (7)')
    schema.migrate()
    schema.check()
    with schema.read() as connection:
        assert connection.scalar(text("SELECT n FROM mine")) == 7
        assert set(metadata.tables) < set(inspect(connection).get_table_names())


def test_a_taken_name_is_told_and_nothing_is_changed(schema: Database, server: Server) -> None:
    server.sql(f'CREATE SCHEMA "{schema.schema}"')
    server.sql(f'CREATE TABLE "{schema.schema}".tasks (n int)')
    with pytest.raises(StateRefused, match='"tasks" already exists'):
        schema.migrate()
    with schema.read() as connection:
        assert inspect(connection).get_table_names() == ["tasks"]


def test_who_may_not_create_a_schema_is_told(schema: Database, guest: str) -> None:
    with pytest.raises(StateRefused, match="permission denied"):
        Database(guest, schema.schema).migrate()


def test_who_is_given_a_schema_needs_no_more(schema: Database, guest: str, server: Server) -> None:
    server.sql(f'CREATE SCHEMA "{schema.schema}" AUTHORIZATION guest')
    theirs = Database(guest, schema.schema)
    theirs.migrate()
    theirs.check()
    theirs.close()


def test_who_may_not_read_is_told(schema: Database, guest: str, server: Server) -> None:
    schema.migrate()
    server.sql(f'GRANT USAGE ON SCHEMA "{schema.schema}" TO guest')
    with pytest.raises(StateRefused, match="permission denied"):
        Database(guest, schema.schema).check()


def test_processes_may_migrate_at_once(schema: Database) -> None:
    command = [sys.executable, "-c", MIGRATE, str(schema.url), schema.schema]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    racers = [subprocess.Popen(command, **pipes) for _ in range(3)]
    for racer in racers:
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        racer.stdin.write("go\n")
        racer.stdin.flush()
    for racer in racers:
        racer.communicate(timeout=60)
    assert [racer.returncode for racer in racers] == [0, 0, 0]
    assert schema.revision() == SCHEMA_HEAD

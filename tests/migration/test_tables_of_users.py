"""What people keep beside the State, in the same schema, is theirs."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Connection, inspect, text
from sqlalchemy.schema import CreateSchema

from lakeguard.state.database import Database
from tests.migration.later_version import LATER, install_later_version


def create_theirs(connection: Connection, over: str) -> None:
    for statement in (
        "CREATE TABLE theirs (n INTEGER)",
        "INSERT INTO theirs VALUES (7)",
        "CREATE INDEX their_index ON theirs (n)",
        "CREATE VIEW their_view AS SELECT n FROM theirs",
        f"CREATE VIEW their_report AS SELECT t.n, (SELECT count(*) FROM {over}) AS c FROM theirs t",
    ):
        connection.execute(text(statement))


def create_schema(connection: Connection, database: Database) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(CreateSchema(database.schema))


def assert_theirs(database: Database) -> None:
    with database.read() as connection:
        assert connection.execute(text("SELECT n FROM their_view")).scalars().all() == [7]
        assert connection.execute(text("SELECT n FROM their_report")).scalars().all() == [7]
        (index,) = inspect(connection).get_indexes("theirs")
    assert index["name"] == "their_index"


def test_what_was_there_before_the_state_stays(database: Database) -> None:
    with database.write() as connection:
        create_schema(connection, database)
        create_theirs(connection, over="theirs")
    database.migrate()
    database.check()
    assert_theirs(database)


def test_what_reads_the_tables_of_an_older_state_stays(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.migrate()
    with database.write() as connection:
        create_theirs(connection, over="run_history")
    install_later_version(tmp_path, monkeypatch)
    database.migrate()
    assert database.revision() == LATER
    assert_theirs(database)


def test_migrating_again_touches_nothing(database: Database) -> None:
    database.migrate()
    with database.write() as connection:
        create_theirs(connection, over="dataset_registry")
    database.migrate()
    assert_theirs(database)

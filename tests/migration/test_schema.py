"""A fresh schema equals a migrated one, and both are what the specification says."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Boolean, Connection, inspect, text
from sqlalchemy.exc import IntegrityError

from lakeguard.state import outbox
from lakeguard.state.column_types import UtcTime
from lakeguard.state.database import Database
from lakeguard.state.guards import guard_statements
from lakeguard.state.head import SCHEMA_HEAD
from lakeguard.state.metadata import MUTABLE_COLUMNS
from lakeguard.state.migrating import scripts
from lakeguard.state.tables import metadata
from lakeguard.state.views import VIEWS, view_metadata
from lakeguard_sdk.errors import StateMismatch, StateMissing, StateUnavailable
from tests.migration.seed_tables import SEED_TABLES


@pytest.fixture
def migrated(tmp_path: Path) -> Iterator[Database]:
    database = Database(f"sqlite:///{tmp_path}/migrated.db")
    database.migrate()
    yield database
    database.close()


def parts_of(statement: str) -> list[str]:
    """A CREATE statement without the order of its constraints; columns keep theirs."""
    head, _, body = " ".join(statement.split()).partition("(")
    depth, parts = 0, [""]
    for character in body:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    words = ("PRIMARY", "UNIQUE", "CONSTRAINT", "FOREIGN", "CHECK")
    parts = [part.strip().rstrip(") ") for part in parts]
    constraints = sorted(part for part in parts if part.startswith(words))
    return [head, *(part for part in parts if not part.startswith(words)), *constraints]


def schema_of(connection: Connection) -> dict[str, str]:
    rows = connection.execute(
        text("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'alem%'")
    )
    return {name: " ".join(sql.split()) for name, sql in rows}


def test_a_fresh_schema_equals_a_migrated_one(migrated: Database, tmp_path: Path) -> None:
    fresh = Database(f"sqlite:///{tmp_path}/fresh.db")
    with fresh.write() as connection:
        metadata.create_all(connection)
        for name, select in VIEWS.items():
            connection.execute(text(f"CREATE VIEW {name} AS {select}"))
        for statement in guard_statements(metadata.sorted_tables, "sqlite"):
            connection.exec_driver_sql(statement)
    with fresh.read() as one, migrated.read() as other:
        assert {name: parts_of(sql) for name, sql in schema_of(one).items()} == {
            name: parts_of(sql) for name, sql in schema_of(other).items()
        }
    fresh.close()


def test_the_code_needs_the_last_migration() -> None:
    assert scripts().get_heads() == [SCHEMA_HEAD]


def test_a_view_has_the_columns_that_the_code_reads(migrated: Database) -> None:
    with migrated.read() as connection:
        for view in view_metadata.sorted_tables:
            found = [column["name"] for column in inspect(connection).get_columns(view.name)]
            assert found == [column.name for column in view.columns]


_KINDS = {"boolean": Boolean, "timestamp": UtcTime}


@pytest.mark.parametrize("table", sorted(SEED_TABLES))
def test_seed_columns_come_first_with_their_names_and_types(table: str) -> None:
    known = {**metadata.tables, **view_metadata.tables}[table]
    ours = list(known.columns)[: len(SEED_TABLES[table])]
    assert [column.name for column in ours] == [name for name, _ in SEED_TABLES[table]]
    for column, (_, kind) in zip(ours, SEED_TABLES[table], strict=True):
        if kind in _KINDS:
            assert isinstance(column.type, _KINDS[kind]), column
        else:
            assert column.type.python_type is {"string": str, "long": int}[kind], column


def test_our_columns_name_the_organisation_everywhere() -> None:
    for table in metadata.sorted_tables:
        assert "org_id" in table.columns, table.name


def test_nothing_can_be_updated_or_deleted(migrated: Database) -> None:
    with migrated.read() as connection:
        triggers = schema_of(connection)
    for table in metadata.sorted_tables:
        assert f"BEFORE DELETE ON {table.name} " in triggers[f"{table.name}_no_delete"]
        update = triggers[f"{table.name}_no_update"]
        if table.name in MUTABLE_COLUMNS:
            fixed = {column.name for column in table.columns} - set(MUTABLE_COLUMNS[table.name])
            listed = update.split(" OF ")[1].split(" ON ")[0].split(", ")
            assert set(listed) == fixed
        else:
            assert f"BEFORE UPDATE ON {table.name} " in update


def test_a_written_row_stays(migrated: Database) -> None:
    with migrated.write() as connection:
        connection.execute(
            text("INSERT INTO documents (org_id, content_hash, body) VALUES ('o', 'h', '{}')")
        )
    for statement in (
        "UPDATE documents SET body = 'x'",
        "DELETE FROM documents",
        "REPLACE INTO documents (org_id, content_hash, body) VALUES ('o', 'h', 'x')",
    ):
        with pytest.raises(IntegrityError, match="append-only"), migrated.write() as connection:
            connection.execute(text(statement))
    with migrated.read() as connection:
        assert connection.scalar(text("SELECT body FROM documents")) == "{}"


def test_an_outbox_row_lives_and_dies_with_its_transaction(migrated: Database) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    with migrated.engine.connect() as connection:
        outbox.append(connection, "default", "run", {"a": 1}, now)
        connection.rollback()
    with migrated.write() as connection:
        outbox.append(connection, "default", "run", {"a": 2}, now)
    with migrated.read() as connection:
        assert connection.execute(text("SELECT payload FROM outbox")).scalars().all() == ['{"a":2}']


def test_the_database_is_durable_and_checks_references(migrated: Database) -> None:
    with migrated.read() as connection:
        pragmas = {
            name: connection.scalar(text(f"PRAGMA {name}"))
            for name in ("journal_mode", "synchronous", "foreign_keys")
        }
    assert pragmas == {"journal_mode": "delete", "synchronous": 2, "foreign_keys": 1}


def test_a_schema_of_another_version_is_refused(migrated: Database, tmp_path: Path) -> None:
    with migrated.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StateMismatch):
        migrated.check()
    with pytest.raises(StateMismatch):
        migrated.migrate()
    nothing = Database(f"sqlite:///{tmp_path}/nothing/state.db")
    with pytest.raises(StateMissing):
        nothing.check()
    assert not (tmp_path / "nothing").exists(), "looking does not create"


def test_a_damaged_file_is_an_error_and_not_an_empty_state(tmp_path: Path) -> None:
    (tmp_path / "state.db").write_bytes(b"this is no database" * 100)
    with pytest.raises(StateUnavailable, match="not a database"):
        Database(f"sqlite:///{tmp_path}/state.db").migrate()

"""A fresh schema equals a migrated one, and both are what the specification says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Boolean, Column, Integer, MetaData, Table, inspect, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.schema import CreateSchema

from lakeguard.ledger.promotions import PromotionRoute
from lakeguard.state.append_only_triggers import guard_statements
from lakeguard.state.database import Database
from lakeguard.state.migrate import create_functions, create_indexes, create_views, scripts
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.outbox import record
from lakeguard.state.schema import (
    documents,
    metadata,
    promotion_status,
    tasks,
)
from lakeguard.state.schema_revision import SCHEMA_HEAD
from lakeguard.state.tables.metadata import MUTABLE_COLUMNS, QUEUES, UtcTime
from lakeguard.state.transaction import Transaction
from lakeguard.state.views.views import view_metadata
from lakeguard_sdk.errors import StateDamaged, StateMismatch, StateMissing
from tests.migration.listing import listing, parts_of
from tests.migration.seed_tables import SEED_TABLES
from tests.support.databases.databases import Server, discard, fresh_database


@pytest.fixture
def migrated(database: Database) -> Database:
    """Once on SQLite, once on PostgreSQL."""
    database.migrate()
    return database


@pytest.fixture
def migrated_file(tmp_path: Path) -> Iterator[Database]:
    database = fresh_database("sqlite", tmp_path)
    database.migrate()
    yield database
    database.close()


@pytest.fixture
def migrated_schema(schema: Database) -> Database:
    schema.migrate()
    return schema


def test_a_fresh_schema_equals_a_migrated_one(migrated: Database, tmp_path: Path) -> None:
    kind = migrated.engine.dialect.name
    fresh = fresh_database(kind, tmp_path)
    with fresh.write() as connection:
        if kind == "postgresql":
            connection.execute(CreateSchema(fresh.schema))
        metadata.create_all(connection)
        create_indexes(connection)
        create_views(connection)
        create_functions(connection)
        for statement in guard_statements(metadata.sorted_tables, kind):
            connection.execute(text(statement))
    with fresh.read() as one, migrated.read() as other:
        assert {name: parts_of(sql) for name, sql in listing(one).items()} == {
            name: parts_of(sql) for name, sql in listing(other).items()
        }
    discard(fresh)


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
        triggers = listing(connection)
    for table in metadata.sorted_tables:
        if table.name in QUEUES:
            assert f"{table.name}_no_delete" not in triggers
        else:
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
    otherwise = {
        "sqlite": "REPLACE INTO documents (org_id, content_hash, body) VALUES ('o', 'h', 'x')",
        "postgresql": "TRUNCATE documents",
    }
    for statement in (
        "UPDATE documents SET body = 'x'",
        "DELETE FROM documents",
        otherwise[migrated.engine.dialect.name],
    ):
        with pytest.raises(IntegrityError, match="append-only"), migrated.write() as connection:
            connection.execute(text(statement))
    with migrated.read() as connection:
        assert connection.scalar(text("SELECT body FROM documents")) == "{}"


def test_no_answer_without_a_decision(migrated: Database) -> None:
    row = {
        **PromotionRoute("ds_1", "source", "bronze")._asdict(),
        "allowed": True,
        "evaluated_at": datetime(2026, 1, 1, tzinfo=UTC),
        "reason": "because",
        "org_id": "default",
        "state": "PROMOTED",
    }
    with pytest.raises(IntegrityError), migrated.write() as connection:
        connection.execute(promotion_status.insert(), row)


def test_attempts_may_exceed_the_limit_but_not_be_negative(migrated: Database) -> None:
    """Whoever retries a task by hand may go beyond the attempts that it has by itself."""
    task = {
        "task_id": "t", "org_id": "default", "kind": "build", "dataset_id": "ds",
        "dedupe_key": "k", "parameters": "{}", "triggered_by": "cli", "max_attempts": 3,
        "created_at": datetime(2026, 1, 1, tzinfo=UTC), "state": "failed", "attempt": 3,
        "priority": 0, "labels": "", "changes": 1,
    }  # fmt: skip
    with migrated.write() as connection:
        connection.execute(tasks.insert(), task)
        connection.execute(text("UPDATE tasks SET attempt = 4"))
    for statement in ("UPDATE tasks SET attempt = -1", "UPDATE tasks SET priority = 9"):
        with pytest.raises(IntegrityError), migrated.write() as connection:
            connection.execute(text(statement))


def test_no_table_can_be_emptied(migrated_schema: Database) -> None:
    with migrated_schema.read() as connection:
        triggers = listing(connection)
    for table in metadata.sorted_tables:
        if table.name in QUEUES:
            continue
        assert f"BEFORE TRUNCATE ON {table.name} " in triggers[f"{table.name}_no_truncate"]


def test_a_column_named_like_a_word_of_sql_is_guarded() -> None:
    columns = (Column("user", Integer), Column("plain", Integer), Column("Mixed", Integer))
    table = Table("tasks", MetaData(), *columns)
    for dialect in ("postgresql", "sqlite"):
        statements = list(guard_statements([table], dialect))
        found = next(one for one in statements if "UPDATE OF" in one)
        user = {"postgresql": '"user"', "sqlite": "user"}[dialect]
        assert f'UPDATE OF {user}, plain, "Mixed" ON' in found


def test_a_fact_and_what_is_told_of_it_live_and_die_with_their_transaction(
    migrated: Database,
) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)

    def document(body: str) -> list[dict[str, str]]:
        return [{"org_id": "default", "content_hash": body, "body": body}]

    with migrated.engine.connect() as connection:
        tx = Transaction(connection, "default", lambda: now, "")
        record(tx, documents, document("a"), now)
        connection.rollback()
    with OrganisationState.of(migrated, "default").write() as tx:
        record(tx, documents, document("b"), now)
    with migrated.read() as connection:
        assert connection.execute(text("SELECT body FROM documents")).scalars().all() == ["b"]
        rows = connection.execute(text("SELECT payload FROM outbox")).scalars().all()
    assert [json.loads(payload)["body"] for payload in rows] == ["b"]


def test_the_file_is_durable_and_checks_references(migrated_file: Database) -> None:
    with migrated_file.read() as connection:
        pragmas = {
            name: connection.scalar(text(f"PRAGMA {name}"))
            for name in ("journal_mode", "synchronous", "foreign_keys")
        }
    assert pragmas == {"journal_mode": "delete", "synchronous": 2, "foreign_keys": 1}


def test_a_schema_of_another_version_is_refused(migrated: Database) -> None:
    with migrated.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StateMismatch):
        migrated.check()
    with pytest.raises(StateMismatch):
        migrated.migrate()


def test_looking_for_a_file_does_not_create_it(tmp_path: Path) -> None:
    nothing = Database(f"sqlite:///{tmp_path}/nothing/state.db")
    with pytest.raises(StateMissing):
        nothing.check()
    assert not (tmp_path / "nothing").exists()


def test_looking_for_a_schema_does_not_create_it(schema: Database, server: Server) -> None:
    with pytest.raises(StateMissing):
        schema.check()
    known = [name for (name,) in server.sql("SELECT nspname FROM pg_namespace")]
    assert schema.schema not in known


def test_a_damaged_file_is_an_error_and_not_an_empty_state(tmp_path: Path) -> None:
    (tmp_path / "state.db").write_bytes(b"this is no database" * 100)
    with pytest.raises(StateDamaged, match="not a database"):
        Database(f"sqlite:///{tmp_path}/state.db").migrate()

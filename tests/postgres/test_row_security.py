"""Organisations of one database, as the role of a service: rows of another are not there."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import errors, sql
from sqlalchemy import CheckConstraint, Column, Connection, Table, text

from lakeguard.state import schema as t
from lakeguard.state.connections import ORGANISATION
from lakeguard.state.database import Database
from lakeguard.state.row_security import require_bound
from lakeguard.state.tables.metadata import UtcTime, metadata
from lakeguard.state.views.views import view_metadata
from lakeguard_sdk.errors import OrganisationsNotSeparated, StateRefused, StateUnavailable
from tests.support.databases.databases import (
    SERVICE,
    SERVICE_ROLE,
    STATE_SCHEMA,
    Server,
    discard,
    migrated_database,
)

OURS, THEIRS = "ours", "theirs"
PROBE = "probe"
TABLES = sorted(metadata.tables)
COUNT = text("SELECT count(*) FROM documents")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    made = migrated_database(SERVICE, tmp_path_factory.mktemp("state"))
    yield made
    discard(made)


@pytest.fixture(scope="module")
def filled(service: Database) -> Iterator[str]:
    """Every table has a row of the other organisation; returns how a role that was granted
    everything connects."""
    place = _place(service)
    with psycopg.connect(f"{place} user=lakeguard", autocommit=True) as owner:
        owner.execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(STATE_SCHEMA)))
        owner.execute("SET session_replication_role = replica")
        for table in metadata.sorted_tables:
            for check in table.constraints:
                if isinstance(check, CheckConstraint):
                    owner.execute(f'ALTER TABLE {table.name} DROP CONSTRAINT "{check.name}"')
            _fill(owner, table)
        owner.execute(f"CREATE ROLE {PROBE} LOGIN")
        schema = sql.Identifier(STATE_SCHEMA)
        for right in ("ALL ON SCHEMA", "ALL ON ALL TABLES IN SCHEMA"):
            owner.execute(sql.SQL(f"GRANT {right} {{}} TO {PROBE}").format(schema))
        yield f"{place} user={PROBE}"
        owner.execute(f"DROP OWNED BY {PROBE}; DROP ROLE {PROBE}")


def _place(database: Database) -> str:
    return " ".join(
        [
            f"host={database.url.query['host']}",
            f"port={database.url.port}",
            f"dbname={database.url.database}",
        ]
    )


def _fill(owner: psycopg.Connection[Any], table: Table) -> None:
    row = {column.name: _value(column) for column in table.columns}
    names = sql.SQL(", ").join(map(sql.Identifier, row))
    marks = sql.SQL(", ").join([sql.Placeholder()] * len(row))
    into = sql.SQL("INSERT INTO {} ({}) VALUES ({})")
    owner.execute(into.format(sql.Identifier(table.name), names, marks), list(row.values()))


def _value(column: Column[Any]) -> Any:
    if column.name == "org_id":
        return THEIRS
    if isinstance(column.type, UtcTime):
        return datetime(2026, 1, 1, tzinfo=UTC)
    kind = column.type.python_type
    if kind is bool or issubclass(kind, int | float):
        return kind(1)
    return "{}" if getattr(column.type, "length", None) is None else THEIRS


def _as(place: str, org_id: str | None) -> psycopg.Connection[Any]:
    connection = psycopg.connect(place, autocommit=True)
    connection.execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(STATE_SCHEMA)))
    if org_id is not None:
        connection.execute("SELECT set_config(%s, %s, false)", [ORGANISATION, org_id])
    return connection


def _counted(connection: psycopg.Connection[Any], name: str) -> int:
    found = connection.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(name)))
    return int(found.fetchone()[0])  # type: ignore[index]


@pytest.mark.parametrize("name", TABLES)
def test_rows_of_another_organisation_are_not_there(name: str, filled: str) -> None:
    table = sql.Identifier(name)
    with _as(filled, THEIRS) as theirs:
        assert _counted(theirs, name) == 1
    for org_id in (OURS, "", None):
        with _as(filled, org_id) as other:
            assert _counted(other, name) == 0
            changed = other.execute(sql.SQL("UPDATE {} SET org_id = org_id").format(table))
            assert changed.rowcount == 0
            assert other.execute(sql.SQL("DELETE FROM {}").format(table)).rowcount == 0
            with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
                _fill(other, metadata.tables[name])
    with _as(filled, THEIRS) as theirs:
        assert _counted(theirs, name) == 1


@pytest.mark.parametrize("name", sorted(view_metadata.tables))
def test_a_view_shows_no_rows_of_another_organisation(name: str, filled: str) -> None:
    for org_id in (OURS, "", None):
        with _as(filled, org_id) as other:
            assert _counted(other, name) == 0


def test_a_row_cannot_be_given_to_another_organisation(filled: str) -> None:
    with _as(filled, OURS) as ours:
        ours.execute("INSERT INTO relay_cursors VALUES (%s, 'delta', 1)", [OURS])
        with pytest.raises((errors.InsufficientPrivilege, errors.IntegrityConstraintViolation)):
            ours.execute("UPDATE relay_cursors SET org_id = %s", [THEIRS])


def test_functions_have_the_rights_of_who_calls_them(service: Database) -> None:
    query = text(
        "SELECT proname, prosecdef FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace"
        " WHERE n.nspname = current_schema()"
    )
    with service.read() as connection:
        found = {str(name): bool(definer) for name, definer in connection.execute(query)}
    assert {"lakeguard_claim_tasks", "lakeguard_report_tasks"} <= found.keys()
    assert not any(found.values())


# The pool.


def _note(service: Database, org_id: str) -> None:
    document = {"org_id": org_id, "content_hash": org_id, "body": "{}"}
    with service.write(org_id) as connection:
        connection.execute(t.documents.insert(), document)


def _seen(service: Database, org_id: str) -> set[str]:
    with service.read(org_id) as connection:
        return set(connection.scalars(text("SELECT org_id FROM documents")))


@pytest.fixture
def pooled(tmp_path: Path) -> Iterator[Database]:
    made = migrated_database(SERVICE, tmp_path)
    for org_id in ("a", "b"):
        _note(made, org_id)
    yield made
    discard(made)


def _stop(connection: Connection) -> None:
    connection.execute(text("SELECT set_config('search_path', 'nowhere', true)"))
    raise RuntimeError


def _abort(service: Database, org_id: str) -> None:
    """By the caller, and by the server."""
    with pytest.raises(RuntimeError), service.write(org_id) as connection:
        _stop(connection)
    with pytest.raises(Exception, match="division"), service.write(org_id) as connection:
        connection.execute(text("SELECT 1 / 0"))


def test_a_connection_that_was_used_before_shows_nothing_of_it(pooled: Database) -> None:
    """Also after a transaction that was aborted, and where no organisation is given."""
    for org_id in ("a", "b", "a", "nobody", "b"):
        _abort(pooled, org_id)
        assert _seen(pooled, "") == set()
        _abort(pooled, org_id)
        assert _seen(pooled, org_id) == {org_id} & {"a", "b"}
        assert pooled.transact(lambda c: c.scalar(COUNT), "b") == 1
        assert pooled.transact(lambda c: c.scalar(COUNT)) == 0


def test_connections_in_autocommit_mode_change_their_organisation(pooled: Database) -> None:
    for org_id, seen in (("a", 1), ("", 0), ("b", 1), ("nobody", 0), ("a", 1)):
        with pytest.raises(StateUnavailable):
            pooled.autocommit(lambda c: _driver(c).execute("SELECT 1 / 0"), org_id)
        assert pooled.autocommit(lambda c: c.scalar(COUNT), org_id) == seen
        assert pooled.autocommit(lambda c: c.scalar(COUNT), org_id) == seen


def _driver(connection: Any) -> psycopg.Connection[Any]:
    driver: psycopg.Connection[Any] = connection.connection.driver_connection
    return driver


def test_a_lost_session_is_replaced_by_one_of_the_same_organisation(
    pooled: Database, server: Server
) -> None:
    named = f"WHERE datname = '{pooled.url.database}'"
    kill = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity {named}"
    for org_id in ("a", "b", "b", "a"):
        server.sql(kill)
        assert _seen(pooled, org_id) == {org_id}
        with pytest.raises(StateUnavailable), pooled.write(org_id) as connection:
            connection.scalar(COUNT, server.sql(kill) and None)
        assert _seen(pooled, org_id) == {org_id}


def test_threads_that_share_a_pool_see_their_own_rows(pooled: Database) -> None:
    def work(seed: int) -> set[tuple[str, ...]]:
        chance, wrong = random.Random(seed), set[tuple[str, ...]]()
        for _ in range(40):
            org_id = chance.choice(["a", "b", "", "nobody"])
            if chance.random() < 0.3:
                _abort(pooled, org_id)
            seen = _seen(pooled, org_id)
            if seen != {org_id} & {"a", "b"}:
                wrong.add((org_id, *seen))
        return wrong

    with ThreadPoolExecutor(6) as threads:
        assert set().union(*threads.map(work, range(6))) == set()


def test_an_organisation_is_set_between_transactions_only(pooled: Database) -> None:
    """A rollback therefore brings back no other one."""
    _abort(pooled, "a")
    with pooled.write("b") as connection:
        connection.begin_nested().rollback()
        assert connection.scalar(COUNT) == 1
        assert connection.scalar(text(f"SELECT current_setting('{ORGANISATION}')")) == "b"


# Who is bound.


def test_the_service_role_is_bound(service: Database) -> None:
    require_bound(service)


def test_a_service_that_is_not_bound_is_refused(service: Database, server: Server) -> None:
    """Its role owns a table, bypasses policies, or a table has none."""
    place = str(service.url.database)
    owner = Database(server.url_in(place), STATE_SCHEMA)
    with pytest.raises(OrganisationsNotSeparated, match="superuser"):
        require_bound(owner)
    owner.close()
    named = f'"{STATE_SCHEMA}".documents'
    for change, back, problem in (
        (
            "NO FORCE ROW LEVEL SECURITY",
            "FORCE ROW LEVEL SECURITY",
            "not forced on table documents",
        ),
        (f'OWNER TO "{SERVICE_ROLE}"', "OWNER TO lakeguard", "owns table documents"),
    ):
        server.sql(f"ALTER TABLE {named} {change}", place)
        with pytest.raises(OrganisationsNotSeparated, match=problem):
            require_bound(service)
        server.sql(f"ALTER TABLE {named} {back}", place)
    server.sql(f'ALTER ROLE "{SERVICE_ROLE}" BYPASSRLS')
    try:
        with pytest.raises(OrganisationsNotSeparated, match="BYPASSRLS"):
            require_bound(service)
    finally:
        server.sql(f'ALTER ROLE "{SERVICE_ROLE}" NOBYPASSRLS')


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE documents SET body = 'x'",
        "DELETE FROM audit_chain",
        "DROP TABLE documents",
        "ALTER TABLE documents DISABLE ROW LEVEL SECURITY",
        "TRUNCATE outbox",
        "UPDATE alembic_version SET version_num = '0'",
    ],
)
def test_the_service_role_may_do_nothing_else(statement: str, service: Database) -> None:
    with pytest.raises(StateRefused), service.write(OURS) as connection:
        connection.execute(text(statement))


def test_every_table_and_view_is_walked() -> None:
    assert len(TABLES) > 50
    assert len(view_metadata.tables) > 20

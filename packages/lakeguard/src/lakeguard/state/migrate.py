"""Runs Alembic migrations from code; they ship with the package."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.schema import CreateIndex, CreateSchema, CreateTable

from lakeguard.state.append_only_triggers import guard_statements
from lakeguard.state.claim_function import claim_function
from lakeguard.state.locks import SCHEMA, hold_for_connection
from lakeguard.state.report_function import report_function
from lakeguard.state.schema import metadata
from lakeguard.state.schema_revision import SCHEMA_HEAD
from lakeguard.state.search_index import index_statements
from lakeguard.state.views.views import view_statements
from lakeguard_sdk.errors import StateMismatch


def scripts() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return ScriptDirectory.from_config(config)


def upgrade(engine: Engine, place: str) -> None:
    """Run all missing migrations in one transaction.

    A second process waits, and then finds nothing missing.
    """
    directory = scripts()
    with engine.begin() as connection:
        hold_for_connection(connection, "migrate")
        _create_schema(connection)
        context = MigrationContext.configure(connection)
        found = context.get_current_revision()
        known = {script.revision for script in directory.walk_revisions()}
        if found is not None and found not in known:
            raise StateMismatch(place=place, found=found, needed=SCHEMA_HEAD)
        missing = [
            script
            for script in directory.iterate_revisions(SCHEMA_HEAD, found or "base")
            if script.revision != found
        ]
        context._ensure_version_table()
        _drop_views(connection)
        with Operations.context(context):
            for script in reversed(missing):
                script.module.upgrade()
        create_views(connection)
        create_functions(connection)
        context.stamp(directory, SCHEMA_HEAD)


def create_tables(connection: Connection) -> None:
    """Every table with its indexes and the triggers that make it append-only."""
    _execute(connection, _table_statements(connection))
    create_indexes(connection)
    _execute(connection, guard_statements(metadata.sorted_tables, connection.dialect.name))


def create_indexes(connection: Connection) -> None:
    """Full-text indexes, which SQLAlchemy cannot describe."""
    _execute(connection, index_statements(connection.dialect.name))


def create_views(connection: Connection) -> None:
    """Recreate all views from code: they hold no rows. Whoever reads one needs the rights on its
    tables, and sees the rows that they may see."""
    views = view_statements(connection.dialect.name)
    rights = " WITH (security_invoker = true)" if connection.dialect.name == "postgresql" else ""
    _execute(
        connection, (f"CREATE VIEW {name}{rights} AS {select}" for name, select in views.items())
    )


def create_functions(connection: Connection) -> None:
    """Replace all functions of PostgreSQL by those of the code."""
    if connection.dialect.name == "postgresql":
        _execute(connection, [claim_function(), report_function()])


def _table_statements(connection: Connection) -> Iterator[str]:
    for table in metadata.sorted_tables:
        yield str(CreateTable(table).compile(dialect=connection.dialect))
        for index in sorted(table.indexes, key=lambda each: str(each.name)):
            yield str(CreateIndex(index).compile(dialect=connection.dialect))


def _execute(connection: Connection, statements: Iterable[str]) -> None:
    """On PostgreSQL in one round trip; SQLite takes one statement at a time."""
    batches = [";\n".join(statements)] if connection.dialect.name == "postgresql" else statements
    for batch in batches:
        connection.exec_driver_sql(batch, execution_options={"no_parameters": True})


def _drop_views(connection: Connection) -> None:
    present = set(inspect(connection).get_view_names())
    for name in reversed(view_statements(connection.dialect.name)):
        if name in present:
            connection.exec_driver_sql(f"DROP VIEW {name}")


def _create_schema(connection: Connection) -> None:
    """Create the schema only if missing: its user may lack the privilege to create one."""
    if connection.dialect.name != "postgresql":
        return
    schema = connection.get_execution_options()[SCHEMA]
    known = text("SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = :schema")
    if connection.scalar(known, {"schema": schema}) is None:
        connection.execute(CreateSchema(schema))

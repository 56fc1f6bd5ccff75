"""Alembic, driven from code: the migrations travel with the package."""

from __future__ import annotations

from pathlib import Path

from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.schema import CreateSchema

from lakeguard.state.head import SCHEMA_HEAD
from lakeguard.state.locking import SCHEMA, hold
from lakeguard.state.views import view_statements
from lakeguard_sdk.state_errors import StateMismatch


def scripts() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return ScriptDirectory.from_config(config)


def upgrade(engine: Engine, place: str) -> None:
    """All missing migrations in one transaction: another process sees all of them or none.

    Whoever comes second waits, and then finds nothing missing.
    """
    directory = scripts()
    with engine.begin() as connection:
        hold(connection, "migrate")
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
        _drop_views(connection)
        create_views(connection)
        context.stamp(directory, SCHEMA_HEAD)


def create_views(connection: Connection) -> None:
    """Views hold no rows: they are made anew from the code whenever the schema changes."""
    for name, select in view_statements(connection.dialect.name).items():
        connection.exec_driver_sql(f"CREATE VIEW {name} AS {select}")


def _drop_views(connection: Connection) -> None:
    present = set(inspect(connection).get_view_names())
    for name in reversed(view_statements(connection.dialect.name)):
        if name in present:
            connection.exec_driver_sql(f"DROP VIEW {name}")


def _create_schema(connection: Connection) -> None:
    """Only where it is missing: who may use a schema need not have the right to create one."""
    if connection.dialect.name != "postgresql":
        return
    schema = connection.get_execution_options()[SCHEMA]
    known = text("SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = :schema")
    if connection.scalar(known, {"schema": schema}) is None:
        connection.execute(CreateSchema(schema))

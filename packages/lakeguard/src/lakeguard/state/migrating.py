"""Alembic, driven from code: the migrations travel with the package."""

from __future__ import annotations

from pathlib import Path

from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory
from sqlalchemy import Engine

from lakeguard.state.head import SCHEMA_HEAD
from lakeguard_sdk.errors import StateMismatch


def scripts() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return ScriptDirectory.from_config(config)


def upgrade(engine: Engine) -> None:
    """All missing migrations in one transaction: another process sees all of them or none."""
    directory = scripts()
    with engine.begin() as connection:
        context = MigrationContext.configure(connection)
        found = context.get_current_revision()
        known = {script.revision for script in directory.walk_revisions()}
        if found is not None and found not in known:
            raise StateMismatch(place=str(engine.url), found=found, needed=SCHEMA_HEAD)
        missing = [
            script
            for script in directory.iterate_revisions(SCHEMA_HEAD, found or "base")
            if script.revision != found
        ]
        context._ensure_version_table()
        with Operations.context(context):
            for script in reversed(missing):
                script.module.upgrade()
        context.stamp(directory, SCHEMA_HEAD)

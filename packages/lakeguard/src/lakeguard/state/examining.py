"""Looking at a database file as a doctor would: nothing is created, migrated or repaired."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import NamedTuple

from lakeguard.state.head import SCHEMA_HEAD


class DatabaseHealth(NamedTuple):
    """``revision`` is None where none can be read; ``problem`` is empty where all is well."""

    revision: str | None
    problem: str


def examine_sqlite(path: Path) -> DatabaseHealth:
    """Reads every page and every foreign key; the file is opened for reading only."""
    if not path.exists():
        return DatabaseHealth(None, "there is no database yet")
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        try:
            return _examined(connection)
        finally:
            connection.close()
    except sqlite3.Error as error:
        return DatabaseHealth(None, f"not readable: {error}")


def _examined(connection: sqlite3.Connection) -> DatabaseHealth:
    told = [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
    if told != ["ok"]:
        return DatabaseHealth(None, f"damaged: {told[0]}")
    orphans = connection.execute("PRAGMA foreign_key_check").fetchall()
    if orphans:
        return DatabaseHealth(None, f"damaged: {len(orphans)} rows name what is not there")
    tables = {str(row[0]) for row in connection.execute("SELECT name FROM sqlite_master")}
    if "alembic_version" not in tables:
        return DatabaseHealth(None, "nothing was applied yet")
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    revision = None if row is None else str(row[0])
    if revision != SCHEMA_HEAD:
        return DatabaseHealth(revision, f"schema {revision}, this version needs {SCHEMA_HEAD}")
    return DatabaseHealth(revision, "")

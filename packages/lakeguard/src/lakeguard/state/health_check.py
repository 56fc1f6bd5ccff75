"""Read-only database health check."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import NamedTuple

from lakeguard.state.connections import sqlite_path
from lakeguard.state.database import Database
from lakeguard.state.schema_revision import SCHEMA_HEAD


class DatabaseHealth(NamedTuple):
    """``revision`` is None if unreadable; ``problem`` is empty if the database is healthy."""

    revision: str | None
    problem: str = ""
    damaged: bool = False
    known: str = "whole"
    """Details of a healthy database."""


def examine_database(database: Database) -> DatabaseHealth:
    """Check a whole SQLite file, or a server's schema. Raises if unreachable."""
    path = sqlite_path(database.url)
    if path is not None:
        return examine_sqlite(path)
    revision = database.revision()
    if revision is None:
        return DatabaseHealth(None, "nothing was applied yet")
    return _compared(revision, "reachable")


def examine_sqlite(path: Path) -> DatabaseHealth:
    """Check every page and foreign key; the file is opened read-only."""
    if not path.exists():
        return DatabaseHealth(None, "there is no database yet")
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        try:
            return _examined(connection)
        finally:
            connection.close()
    except sqlite3.Error as error:
        return DatabaseHealth(None, f"not readable: {error}", damaged=True)


def _examined(connection: sqlite3.Connection) -> DatabaseHealth:
    problems = [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
    if problems != ["ok"]:
        return DatabaseHealth(None, f"damaged: {problems[0]}", damaged=True)
    orphans = connection.execute("PRAGMA foreign_key_check").fetchall()
    if orphans:
        problem = f"damaged: {len(orphans)} rows name what is not there"
        return DatabaseHealth(None, problem, damaged=True)
    tables = {str(row[0]) for row in connection.execute("SELECT name FROM sqlite_master")}
    if "alembic_version" not in tables:
        return DatabaseHealth(None, "nothing was applied yet")
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return _compared(None if row is None else str(row[0]), "whole")


def _compared(revision: str | None, known: str) -> DatabaseHealth:
    if revision != SCHEMA_HEAD:
        return DatabaseHealth(revision, f"schema {revision}, this version needs {SCHEMA_HEAD}")
    return DatabaseHealth(revision, known=known)

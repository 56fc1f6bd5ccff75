"""Health checks of a database, and what becomes of a damaged file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from lakeguard.state.connections import sqlite_path
from lakeguard.state.database import Database
from lakeguard.state.failures import meaning_of, truncation_of
from lakeguard.state.schema_revision import SCHEMA_HEAD
from lakeguard_sdk.errors import StateDamaged


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
    if problem := truncation_of(path):
        return DatabaseHealth(None, f"damaged: {problem}", damaged=True)
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        try:
            return _examined(connection)
        finally:
            connection.close()
    except sqlite3.Error as error:
        damaged = meaning_of(error) is StateDamaged
        return DatabaseHealth(None, f"not readable: {error}", damaged=damaged)


MOST_CHECKED_BYTES = 64 << 20
"""Larger files are checked by ``doctor`` and ``verify`` only: a check reads every page."""


def require_whole(path: Path, place: str) -> None:
    """Raise ``StateDamaged`` if a page of a file of moderate size is damaged; read-only."""
    if not path.exists() or path.stat().st_size > MOST_CHECKED_BYTES:
        return
    problem = truncation_of(path)
    if not problem:
        try:
            with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as file:
                (found,) = file.execute("PRAGMA quick_check(1)").fetchone()
        except sqlite3.Error as error:
            if meaning_of(error) is not StateDamaged:
                return  # whoever needs the file says why it cannot be read
            found = str(error)
        problem = "" if found == "ok" else str(found).strip().rpartition("\n")[2]
    if problem:
        raise StateDamaged(place=place, reason=problem)


def set_damaged_apart(path: Path, at: datetime) -> Path | None:
    """Move a damaged file, with its journal, out of the way; returns its new place. A file that is
    whole, or that cannot be judged, stays."""
    if not path.exists() or not examine_sqlite(path).damaged:
        return None
    kept = path.with_name(f"{path.name}.damaged-{at:%Y%m%dT%H%M%SZ}")
    journal = path.with_name(f"{path.name}-journal")
    if journal.exists():
        journal.rename(kept.with_name(f"{kept.name}-journal"))
    return path.rename(kept)


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

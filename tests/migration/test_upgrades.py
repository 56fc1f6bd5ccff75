"""A State of an earlier version is brought to this one; its rows and guards stay."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import inspect, text
from sqlalchemy.exc import IntegrityError

from lakeguard.state.database import Database
from lakeguard.state.views.views import view_metadata
from lakeguard_sdk.errors import StateMismatch
from tests.migration.later_version import LATER, install_later_version

_ROW = "INSERT INTO documents (org_id, content_hash, body) VALUES ('o', 'h', '{}')"


def test_rows_guards_and_views_survive_a_migration(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once on SQLite, once on PostgreSQL."""
    database.migrate()
    with database.write() as connection:
        connection.execute(text(_ROW))
    install_later_version(tmp_path, monkeypatch)
    with pytest.raises(StateMismatch):
        database.check()
    database.migrate()
    assert database.revision() == LATER
    with database.read() as connection:
        assert connection.execute(text("SELECT body, later FROM documents")).all() == [("{}", None)]
        assert set(view_metadata.tables) <= set(inspect(connection).get_view_names())
    with pytest.raises(IntegrityError, match="append-only"), database.write() as connection:
        connection.execute(text("DELETE FROM documents"))


def test_a_new_state_runs_all_migrations(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_later_version(tmp_path, monkeypatch)
    database.migrate()
    assert database.revision() == LATER
    with database.read() as connection:
        columns = [column["name"] for column in inspect(connection).get_columns("documents")]
    assert columns[-1] == "later"


def test_an_earlier_version_refuses_what_a_later_one_migrated(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as later:
        install_later_version(tmp_path, later)
        database.migrate()
    with pytest.raises(StateMismatch, match=LATER):
        database.check()
    with pytest.raises(StateMismatch, match=LATER):
        database.migrate()
    assert database.revision() == LATER


def test_migrations_run_once_whoever_comes_at_the_same_time(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A column is added once: a second time is an error of the database."""
    database.migrate()
    install_later_version(tmp_path, monkeypatch)
    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(database.migrate) for _ in range(4)]:
            done.result()
    assert database.revision() == LATER

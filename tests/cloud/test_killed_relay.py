"""The relay and a rebuild killed with SIGKILL at every step, with the ledger in S3."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lakeguard.relay import lake_lock
from lakeguard.state.database import Database
from tests.faults import test_killed_relay as suite
from tests.support.databases.databases import discard, fresh_database

IN_A_STORE = tuple(point for point in suite.RELAY if point != "file.written")
"""An object is written whole: there is no file beside it to die after."""


@pytest.fixture(autouse=True)
def _short_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever follows a killed process waits for the end of its lease."""
    monkeypatch.setattr(lake_lock, "LEASE_SECONDS", 1.0)


@pytest.fixture
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    made = fresh_database("sqlite", tmp_path_factory.mktemp("state"))
    yield made
    discard(made)


@pytest.mark.parametrize("point", IN_A_STORE)
def test_a_killed_relay(point: str, database: Database, served: Path) -> None:
    suite.test_a_killed_relay(point, database, served)


@pytest.mark.parametrize("point", suite.REBUILD)
def test_a_killed_rebuild(point: str, database: Database, served: Path) -> None:
    suite.test_a_killed_rebuild(point, database, served)

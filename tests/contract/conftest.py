"""What the contract suites share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lakeguard.state.database import Database
from tests.support.databases.databases import KINDS, SERVICE, discard, migrated_database
from tests.support.projects.planes import Clock
from tests.support.projects.projects import states_of


@pytest.fixture(params=(*KINDS, SERVICE))
def each_state(request: pytest.FixtureRequest) -> Iterator[None]:
    """The test runs with its projects' State on SQLite, and once more on PostgreSQL; those of
    ``AS_SERVICE`` as a service role too."""
    with states_of(request.param):
        yield


@pytest.fixture
def turned_clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Every client that is connected meanwhile goes by it; it stands at a Thursday."""
    clock = Clock()
    monkeypatch.setattr("lakeguard.plane._clock", lambda _: clock)
    return clock


@pytest.fixture(scope="module", params=(*KINDS, SERVICE))
def state(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    """One for all tests: what each does it does in an organisation of its own."""
    made = migrated_database(request.param, tmp_path_factory.mktemp("state"))
    yield made
    discard(made)

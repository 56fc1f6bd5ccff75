"""What the contract suites share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.worlds.databases import KINDS
from tests.worlds.planes import Clock
from tests.worlds.projects import states_of


@pytest.fixture(params=KINDS)
def each_state(request: pytest.FixtureRequest) -> Iterator[None]:
    """The test runs with its projects' State on SQLite, and once more on PostgreSQL."""
    with states_of(request.param):
        yield


@pytest.fixture
def turned_clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Every client that is connected meanwhile goes by it; it stands at a Thursday."""
    clock = Clock()
    monkeypatch.setattr("lakeguard.plane._clock", lambda _: clock)
    return clock

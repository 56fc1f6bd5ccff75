"""What the contract suites share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.worlds.databases import KINDS
from tests.worlds.projects import states_of


@pytest.fixture(params=KINDS)
def each_state(request: pytest.FixtureRequest) -> Iterator[None]:
    """The test runs with its projects' State on SQLite, and once more on PostgreSQL."""
    with states_of(request.param):
        yield

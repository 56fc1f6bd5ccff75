"""Suites of ``tests/contract`` once more: every client is one of a service, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lakeguard.state.database import Database
from tests.contract.conftest import turned_clock as turned_clock
from tests.support.databases.databases import discard, migrated_database
from tests.support.projects.served import projects_served

OF_ONE_PROCESS = frozenset(
    {
        "test_a_lake_may_be_moved",
        "test_a_run_by_hand_waits_for_none_of_its_job_and_counts_as_one",
        "test_a_run_neither_starts_jobs_nor_takes_tasks",
        "test_a_turn_that_changes_nothing_writes_nothing_and_asks_no_more_for_more_runs",
        "test_no_method_of_the_run_port_takes_the_ticket_of_another",
        "test_what_was_there_before_is_no_business_of_maintenance",
        "test_what_a_run_holds_opens_no_other_door",
        "test_without_a_newer_version_no_task_is_looked_at",
    }
)
"""They call ports with what no request can carry, look into the database, or change settings or
folder of a service that runs;
``tests/unit/http`` shows what a run may do."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    dropped = [
        item
        for item in items
        if item.path.is_relative_to(here) and item.name.partition("[")[0] in OF_ONE_PROCESS
    ]
    config.hook.pytest_deselected(items=dropped)
    items[:] = [item for item in items if item not in dropped]


@pytest.fixture(autouse=True)
def over_http(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with projects_served(monkeypatch):
        yield


@pytest.fixture
def each_state() -> None:
    """On SQLite: which database holds the State makes no difference to the wire."""


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """One for all tests: what each does it does in an organisation of its own."""
    made = migrated_database("sqlite", tmp_path_factory.mktemp("state"))
    yield made
    discard(made)

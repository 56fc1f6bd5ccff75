"""However many runs have ended, what people ask every day and what a run asks are looks into an
index. Tables of definitions may be scanned: they grow with the datasets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event

from lakeguard.services.ports.jobs import EmbeddedJobs
from lakeguard_sdk import Client
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType, PolicyType, RunStatus
from lakeguard_sdk.model.definitions import Definitions, PolicyDefinition
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.planes import NUMBERS, numbers_definitions
from tests.support.projects.projects import numbers_project

HISTORY = frozenset(
    {
        *("tasks", "task_attempts", "task_transitions", "run_openings", "run_schemas"),
        *("run_history", "decisions", "promotion_status", "intents", "intent_outcomes"),
        "task_results",
        *("data_versions", "dataset_pointers", "materializations", "documents", "later"),
    }
)
"""Tables that grow with every run, and the alias of those that are read twice."""

Statement = tuple[str, Any]
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
def client(tmp_path: Path) -> Client:
    client = numbers_project(tmp_path)
    run_by_hand(client, [1, 2, 3])
    return client


def engine_of(client: Client) -> Engine:
    assert isinstance(client.jobs, EmbeddedJobs)
    return client.jobs.context.database.engine


@contextmanager
def noted(engine: Engine) -> Iterator[list[Statement]]:
    sent: list[Statement] = []

    def note(_connection: Any, _cursor: Any, given: str, values: Any, *_rest: Any) -> None:
        if given.lstrip().startswith(("SELECT", "WITH", "UPDATE")):
            sent.append((given, values))

    event.listen(engine, "before_cursor_execute", note)
    yield sent
    event.remove(engine, "before_cursor_execute", note)


def plans(engine: Engine, sent: list[Statement]) -> Iterator[str]:
    with engine.connect() as connection:
        for given, values in sent:
            rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {given}", values)
            yield from (str(row.detail) for row in rows)


def scanned(engine: Engine, sent: list[Statement]) -> dict[str, str]:
    """Tables of the history that are read from one end to the other, each with a statement."""
    found: dict[str, str] = {}
    with engine.connect() as connection:
        for given, values in sent:
            for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {given}", values):
                name = re.match(r"SCAN (\w+)", row.detail)
                if name and name[1] in HISTORY:
                    found[name[1]] = given
    return found


@pytest.mark.parametrize(
    "ask",
    [
        lambda client: client.reader.status(),
        lambda client: client.reader.runs(),
        lambda client: client.reader.runs(NUMBERS),
        lambda client: client.reader.runs(status=RunStatus.FAILED),
        lambda client: client.reader.runs(NUMBERS, status=RunStatus.FAILED, since=LONG_AGO),
        lambda client: client.reader.executions(),
        lambda client: client.reader.executions(status=RunStatus.FAILED, since=LONG_AGO),
        lambda client: client.reader.open_runs(),
        lambda client: client.reader.schemas(NUMBERS),
        lambda client: client.reader.versions(NUMBERS),
        lambda client: run_by_hand(client, [4]),
    ],
    ids=[
        "status",
        "runs",
        "runs of one",
        "failed runs",
        "failed runs of one",
        "executions",
        "failed executions",
        "open runs",
        "schemas",
        "versions",
        "a run",
    ],
)
def test_no_history_is_scanned(client: Client, ask: Callable[[Client], object]) -> None:
    engine = engine_of(client)
    with noted(engine) as sent:
        ask(client)
    assert sent
    assert scanned(engine, sent) == {}


def test_runs_of_a_dataset_are_not_looked_for_among_all_runs(client: Client) -> None:
    engine = engine_of(client)
    with noted(engine) as sent:
        client.reader.runs(NUMBERS)
    found = [plan for plan in plans(engine, sent) if plan.startswith("SEARCH run_history")]
    assert found == ["SEARCH run_history USING INDEX ix_run_history_dataset (dataset_id=?)"]


FRESH = PolicyDefinition(policy="fresh", type=PolicyType.SLA, expression="freshness <= 1h")


def with_promises(client: Client, datasets: int) -> None:
    """So many more datasets, all of which promise to be fresh."""
    (numbers,) = numbers_definitions(LoadType.APPEND).datasets
    more = tuple(
        numbers.model_copy(update={"dataset": DatasetName(f"bronze.more_{number}")})
        for number in range(datasets)
    )
    given = Definitions(datasets=more, policies=(FRESH,))
    client.registry.apply(client.registry.plan(given))


def test_the_status_asks_as_often_for_many_datasets(client: Client) -> None:
    """Also where each has a promise to keep; and nothing of it is scanned."""
    engine, asked = engine_of(client), []
    for datasets in (2, 9):
        with_promises(client, datasets)
        client.reader.status()
        with noted(engine) as sent:
            rows = client.reader.status()
        assert len(rows) == datasets + 1
        assert [row.published is not None for row in rows] == [False] * datasets + [True]
        assert scanned(engine, sent) == {}
        asked.append(len(sent))
    assert asked[0] == asked[1]

"""A run that ends while a dispatcher reads: each statement sees more than the last."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event

from lakeguard.promotion.context import PlaneContext
from lakeguard.registry.store import require_dataset
from lakeguard.scheduler.invalidations.reconcile import reconcile, standing
from lakeguard.scheduler.invalidations.run_cache import KnownRuns
from lakeguard.services.ports.operations import EmbeddedOperations
from lakeguard.state.connections import is_reading
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.model.row_ranges import RowRange
from lakeguard_sdk.model.run import Window
from lakeguard_sdk.scheduling.invalidations import Reason
from tests.support.lakes.partitioned_numbers import (
    BRONZE,
    GOLD,
    SILVER,
    dataset,
    project,
    publish,
)
from tests.support.projects.projects import states_of

ROWS = {"2026-01": [1], "2026-02": [2]}
JANUARY = Window(column="month", start="2026-01", end="2026-01")


@contextmanager
def once_after(engine: Engine, words: str, of: str, act: Callable[[], Any]) -> Iterator[list[int]]:
    """The first time that a writing transaction has asked so about a dataset, somebody acts."""
    acted: list[int] = []

    def look(
        connection: Connection, _cursor: Any, statement: str, values: Any, *_rest: object
    ) -> None:
        asked = words in " ".join(statement.split()) and of in str(values)
        if asked and not acted and not is_reading(connection):
            acted.append(1)
            other = Thread(target=act)
            other.start()
            other.join()

    event.listen(engine, "after_cursor_execute", look)
    try:
        yield acted
    finally:
        event.remove(engine, "after_cursor_execute", look)


def standings(context: PlaneContext, runs: KnownRuns) -> list[dict[str, str]]:
    with context.read() as tx:
        _, found = standing(tx, runs)
    return [{key: item.made.standing for key, item in one.followed.items()} for one in found]


@pytest.mark.parametrize(
    "words", ["FROM run_history JOIN version_inputs", "FROM run_history JOIN run_openings"]
)
def test_a_run_that_ends_between_two_statements_is_read_whole(tmp_path: Path, words: str) -> None:
    with states_of("postgresql"):
        client = project(
            tmp_path,
            dataset(BRONZE, load=LoadType.APPEND),
            dataset(SILVER, BRONZE, load=LoadType.FULL),
            dataset(GOLD, SILVER, load=LoadType.FULL),
        )
        for name in (BRONZE, SILVER, GOLD):
            publish(client, name, ROWS)
        reach = RowRange(partitions=("month=2026-01",))
        client.operations.invalidate(BRONZE, reach, Reason.CORRECTION)
        publish(client, BRONZE, {"2026-01": [3]}, window=JANUARY)
        assert isinstance(client.operations, EmbeddedOperations)
        context, runs = client.operations.context, KnownRuns()
        with context.read() as tx:
            silver = require_dataset(tx, SILVER).dataset_id
        engine = context.database.engine
        with once_after(engine, words, silver, lambda: publish(client, SILVER, ROWS)) as acted:
            reconcile(context, runs)
        assert acted
        reconcile(context, runs)
        assert standings(context, runs) == standings(context, KnownRuns())

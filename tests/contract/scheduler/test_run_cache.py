"""A dispatcher reads each run once, and only runs that say something of an open invalidation."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.promotion.context import PlaneContext
from lakeguard.registry.store import require_dataset
from lakeguard.scheduler.invalidations.catch_up import EndedRun
from lakeguard.scheduler.invalidations.reconcile import reconcile, standing
from lakeguard.scheduler.invalidations.run_cache import KnownRuns
from lakeguard.services.ports.operations import EmbeddedOperations
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.model.row_ranges import RowRange
from lakeguard_sdk.model.run import Window
from lakeguard_sdk.scheduling.invalidations import Reason
from tests.support.lakes.partitioned_numbers import (
    BRONZE,
    GOLD,
    SILVER,
    Client,
    dataset,
    project,
    publish,
    unchanged,
)
from tests.support.projects.planes import Clock

pytestmark = pytest.mark.usefixtures("each_state")
THREE = (
    dataset(BRONZE, load=LoadType.APPEND),
    dataset(SILVER, BRONZE, load=LoadType.FULL),
    dataset(GOLD, SILVER, load=LoadType.FULL),
)
NAMES = (BRONZE, SILVER, GOLD)
ROWS = {"2026-01": [1], "2026-02": [2]}
JANUARY = Window(column="month", start="2026-01", end="2026-01")


@pytest.fixture
def client(tmp_path: Path, turned_clock: Clock) -> Client:
    """Everything is built from a partition that is wrong."""
    client = project(tmp_path, *THREE)
    for name in NAMES:
        publish(client, name, ROWS)
    turned_clock.pass_time(7_200)
    client.operations.invalidate(BRONZE, RowRange(partitions=("month=2026-01",)), Reason.CORRECTION)
    turned_clock.pass_time(60)
    return client


def context_of(client: Client) -> PlaneContext:
    assert isinstance(client.operations, EmbeddedOperations)
    return client.operations.context


def ended_runs(context: PlaneContext, runs: KnownRuns, name: DatasetName) -> tuple[EndedRun, ...]:
    with context.read() as tx:
        return runs.runs(require_dataset(tx, name).dataset_id)


def known(context: PlaneContext, runs: KnownRuns) -> dict[DatasetName, int]:
    """How many runs of each dataset are remembered."""
    return {name: len(ended_runs(context, runs, name)) for name in NAMES}


def standings(context: PlaneContext, runs: KnownRuns) -> list[dict[str, str]]:
    with context.read() as tx:
        histories, found = standing(tx, runs)
    return [
        {str(histories.name(key)): item.made.standing for key, item in one.followed.items()}
        for one in found
    ]


def test_below_what_was_never_put_right_nothing_is_read(client: Client) -> None:
    context, runs = context_of(client), KnownRuns()
    for name in NAMES * 2:
        publish(client, name, ROWS)
    reconcile(context, runs)
    assert known(context, runs) == {BRONZE: 2, SILVER: 0, GOLD: 0}
    publish(client, BRONZE, {"2026-01": [3]}, window=JANUARY)
    publish(client, SILVER, ROWS)
    reconcile(context, runs)
    assert known(context, runs) == {BRONZE: 3, SILVER: 3, GOLD: 2}
    publish(client, GOLD, ROWS)
    reconcile(context, runs)
    assert client.reader.invalidations() == []
    reconcile(context, runs)
    assert known(context, runs) == {BRONZE: 0, SILVER: 0, GOLD: 0}


def test_runs_of_before_are_not_read_while_nothing_ends(client: Client) -> None:
    context, runs = context_of(client), KnownRuns()
    for _ in range(3):
        reconcile(context, runs)
        assert known(context, runs) == {BRONZE: 0, SILVER: 0, GOLD: 0}


def test_a_run_of_long_ago_is_not_read_again(client: Client, turned_clock: Clock) -> None:
    context, runs = context_of(client), KnownRuns()
    publish(client, BRONZE, ROWS)
    reconcile(context, runs)
    turned_clock.pass_time(86_400)
    publish(client, BRONZE, ROWS)
    reconcile(context, runs)
    first, _ = ended_runs(context, runs, BRONZE)
    publish(client, BRONZE, ROWS)
    reconcile(context, runs)
    again, *later = ended_runs(context, runs, BRONZE)
    assert again is first
    assert [look.version for look in later] == [3, 4]


def test_an_end_that_shows_late_is_seen(client: Client, turned_clock: Clock) -> None:
    context, runs = context_of(client), KnownRuns(anew_after=3)
    turned_clock.pass_time(86_400)
    publish(client, BRONZE, ROWS)
    reconcile(context, runs)
    turned_clock.pass_time(-1_800)
    publish(client, BRONZE, ROWS)
    reconcile(context, runs)
    assert known(context, runs)[BRONZE] == 2
    turned_clock.pass_time(-36_000)
    publish(client, BRONZE, ROWS)
    reconcile(context, runs)
    assert known(context, runs)[BRONZE] == 3, "everything was read anew"


def test_who_remembers_sees_what_a_newcomer_sees(client: Client, turned_clock: Clock) -> None:
    context, runs = context_of(client), KnownRuns()
    steps = (
        lambda: publish(client, SILVER, ROWS),
        lambda: publish(client, BRONZE, {"2026-01": [3]}, window=JANUARY),
        lambda: unchanged(client, GOLD),
        lambda: publish(client, SILVER, ROWS),
        lambda: client.operations.rollback(SILVER, 2, "to see"),
        lambda: publish(client, GOLD, ROWS),
        lambda: publish(client, SILVER, ROWS),
        lambda: unchanged(client, GOLD),
    )
    seen = []
    for step in steps:
        turned_clock.pass_time(4_000)
        step()
        found = standings(context, runs)
        assert found == standings(context, KnownRuns())
        seen.append(found)
        reconcile(context, runs)
    assert len({str(found) for found in seen}) > 4
    assert client.reader.invalidations() == []

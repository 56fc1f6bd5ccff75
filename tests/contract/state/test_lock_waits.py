"""Who is to catch up with an invalidation waits for what passes by itself, and says for what."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.cli.rendering.invalidations import invalidation_lines
from lakeguard.services.ports.operations import EmbeddedOperations
from lakeguard_sdk.core.dataset_name import DatasetName, Layer
from lakeguard_sdk.core.enums import PolicyType, SourceFormat, TaskState
from lakeguard_sdk.model.definitions import (
    Definitions,
    JobDefinition,
    PolicyDefinition,
    SourceDefinition,
)
from lakeguard_sdk.model.row_ranges import RowRange
from lakeguard_sdk.model.run import Failure
from lakeguard_sdk.scheduling.invalidations import InvalidationRow, Reason
from tests.support.lakes.partitioned_numbers import (
    BRONZE,
    GOLD,
    SILVER,
    Client,
    begin,
    dataset,
    project,
    publish,
)
from tests.support.projects.planes import Clock
from tests.support.projects.triggered_jobs import counted_statements

pytestmark = pytest.mark.usefixtures("each_state")
JANUARY = RowRange(partitions=("month=2026-01",))
ROWS = {"2026-01": [1], "2026-02": [2]}
WRITING = ("BEGIN IMMEDIATE", "INSERT", "UPDATE")
FREEZE = PolicyDefinition(
    policy="holidays",
    type=PolicyType.CHANGE_FREEZE,
    expression="freeze 2026-01-01..2026-01-02",
    applies_to_layer=Layer.BRONZE,
)
FRESH = PolicyDefinition(
    policy="fresh",
    type=PolicyType.SLA,
    expression="freshness <= 1h",
    applies_to_layer=Layer.BRONZE,
)


@pytest.fixture
def client(tmp_path: Path, turned_clock: Clock) -> Client:
    """Three datasets that are built, each by a job that is to be alone."""
    three = (dataset(BRONZE), dataset(SILVER, BRONZE), dataset(GOLD, SILVER))
    made = project(tmp_path, *three, jobs=[build(name) for name in (BRONZE, SILVER, GOLD)])
    made.jobs.deploy()
    for name in (BRONZE, SILVER, GOLD):
        publish(made, name, ROWS)
    return made


def build(name: DatasetName) -> JobDefinition:
    return JobDefinition(job=f"build_{name.layer}", dataset=name, config={"overlap": "skip"})


def apply(client: Client, definitions: Definitions) -> None:
    client.registry.apply(client.registry.plan(definitions))


def held(client: Client, row: InvalidationRow, name: DatasetName) -> str:
    """Why the job of the dataset waits; nothing is launched, refused or written for it."""
    assert isinstance(client.operations, EmbeddedOperations)
    with counted_statements(client.operations.context.database) as sent:
        assert [client.operations.reconcile() for _ in range(2)] == [0, 0]
    assert not [given for given in sent if given.startswith(WRITING) or "advisory" in given]
    assert client.jobs.tasks(state=TaskState.BLOCKED) == []
    shown = client.reader.invalidation(row.invalidation_id)
    (follower,) = [item for item in shown.followers if item.dataset == name]
    assert follower.task_id is None
    text = f"job build_{name.layer} waits: {follower.held_by}"
    assert any(text in line for line in invalidation_lines(shown))
    return str(follower.held_by)


def launched(client: Client, row: InvalidationRow, name: DatasetName) -> None:
    """The job of the dataset is, once; and it is not said to wait any more."""
    assert [client.operations.reconcile() for _ in range(2)] == [1, 0]
    shown = client.reader.invalidation(row.invalidation_id)
    (follower,) = [item for item in shown.followers if item.dataset == name]
    assert (follower.task_id is not None, follower.held_by) == (True, None)


def test_a_run_of_the_same_job_is_waited_for(client: Client) -> None:
    other = client.jobs.trigger("build_bronze", "ada")
    row = client.operations.invalidate(BRONZE, JANUARY, Reason.CORRECTION)
    assert held(client, row, BRONZE) == "job build_bronze is still under way, and overlap is skip"
    client.jobs.cancel(other.task_id)
    launched(client, row, BRONZE)


def test_a_freeze_is_waited_for(client: Client, turned_clock: Clock) -> None:
    apply(client, Definitions(policies=(FREEZE,)))
    row = client.operations.invalidate(BRONZE, JANUARY, Reason.CORRECTION)
    assert "policy holidays: bronze.flights is" in held(client, row, BRONZE)
    turned_clock.pass_time(3 * 24 * 3600)
    launched(client, row, BRONZE)


def test_a_parent_is_waited_for_whose_last_run_failed(client: Client) -> None:
    row = client.operations.invalidate(SILVER, JANUARY, Reason.CORRECTION)
    publish(client, SILVER, ROWS)
    ticket = begin(client, SILVER).ticket
    client.runs.fail_run(ticket, Failure(code="BROKEN", message="not there"))
    assert client.operations.reconcile() == 0, "that silver has caught up is recorded"
    assert f"the last run of parent {SILVER} failed" in held(client, row, GOLD)
    publish(client, SILVER, ROWS)
    launched(client, row, GOLD)


def test_a_parent_is_waited_for_that_is_late(client: Client, turned_clock: Clock) -> None:
    apply(client, Definitions(policies=(FRESH,)))
    row = client.operations.invalidate(SILVER, JANUARY, Reason.CORRECTION)
    turned_clock.pass_time(2 * 3600)
    assert f"policy fresh: parent {BRONZE}" in held(client, row, SILVER)
    publish(client, BRONZE, ROWS)
    launched(client, row, SILVER)


def test_a_run_that_begins_at_the_same_moment_is_waited_for(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the turn has seen that nothing is in the way."""
    row = client.operations.invalidate(BRONZE, JANUARY, Reason.CORRECTION)
    with monkeypatch.context() as unseen:
        unseen.setattr("lakeguard.scheduler.invalidations.reconcile.held_back", lambda *_: {})
        other = client.jobs.trigger("build_bronze", "ada")
        assert client.operations.reconcile() == 0
    assert held(client, row, BRONZE)
    client.jobs.cancel(other.task_id)
    launched(client, row, BRONZE)


def test_what_somebody_has_to_put_right_is_refused_and_counts_as_no_launch(client: Client) -> None:
    off = SourceDefinition(
        source="flights", format=SourceFormat.PARQUET, path="in/*.parquet", active=False
    )
    apply(client, Definitions(sources=(off,)))
    client.operations.invalidate(BRONZE, JANUARY, Reason.CORRECTION)
    assert [client.operations.reconcile() for _ in range(2)] == [0, 0]
    (refused,) = client.jobs.tasks(state=TaskState.BLOCKED)
    assert refused.job == "build_bronze"

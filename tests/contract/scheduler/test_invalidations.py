"""An invalidation is over when everybody who was built on what was wrong has been built again."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.plane import open_state, wire
from lakeguard.services.ports.operations import EmbeddedOperations
from lakeguard.settings import load_settings
from lakeguard_sdk.core.enums import LoadType, TaskState
from lakeguard_sdk.errors import (
    InvalidationOver,
    NotFullyRebuilt,
    UnknownInvalidation,
    UnknownRowRange,
    WithdrawalReasonNeeded,
)
from lakeguard_sdk.model.definitions import DatasetDefinition, Definitions, JobDefinition
from lakeguard_sdk.model.row_ranges import RowRange
from lakeguard_sdk.model.run import Failure, Window
from lakeguard_sdk.scheduling.invalidations import End, InvalidationRow, Reason
from lakeguard_sdk.scheduling.process_identity import this_process
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
from tests.support.projects.triggered_jobs import counted_statements

pytestmark = pytest.mark.usefixtures("each_state")
WRITING = ("BEGIN IMMEDIATE", "INSERT", "UPDATE")
JANUARY = RowRange(partitions=("month=2026-01",))
THREE = (dataset(BRONZE), dataset(SILVER, BRONZE), dataset(GOLD, SILVER))
BUILDS = tuple(
    JobDefinition(job=f"build_{name.layer}", dataset=name) for name in (BRONZE, SILVER, GOLD)
)


def built(
    folder: Path, *datasets: DatasetDefinition, jobs: tuple[JobDefinition, ...] = ()
) -> Client:
    client = project(folder, *(datasets or THREE), jobs=jobs)
    if jobs:
        client.jobs.deploy()
    names = (one.dataset for one in client.registry.definitions().datasets)
    for name in sorted(names, key=lambda name: name.layer.height):
        publish(client, name, {"2026-01": [1], "2026-02": [2]})
    return client


def standings(row: InvalidationRow) -> dict[str, str]:
    return {item.dataset.layer.value: item.standing.value for item in row.followers}


def now(client: Client, row: InvalidationRow) -> InvalidationRow:
    client.operations.reconcile()
    return client.reader.invalidation(row.invalidation_id)


def test_it_cascades_by_partition_and_is_over_when_all_have_caught_up(tmp_path: Path) -> None:
    client = built(tmp_path)
    row = client.operations.invalidate(BRONZE, JANUARY, Reason.CORRECTION, "a wrong feed")
    assert standings(row) == {"bronze": "ready", "silver": "waiting", "gold": "waiting"}
    assert [item.reach for item in row.followers] == [JANUARY] * 3
    january = Window(column="month", start="2026-01", end="2026-01")
    publish(client, BRONZE, {"2026-01": [3]}, window=january)
    row = now(client, row)
    assert standings(row) == {"bronze": "caught_up", "silver": "ready", "gold": "waiting"}
    publish(client, GOLD, {"2026-01": [1]})  # of what is still wrong
    assert standings(now(client, row))["gold"] == "waiting"
    publish(client, SILVER, {"2026-01": [3]}, window=january)
    row = now(client, row)
    assert (standings(row)["gold"], row.end) == ("ready", None)
    publish(client, GOLD, {"2026-01": [3]})
    row = now(client, row)
    assert (set(standings(row).values()), row.end) == ({"caught_up"}, End.DONE)
    assert [(item.dataset, item.version) for item in row.followers] == [
        (BRONZE, 2), (GOLD, 3), (SILVER, 2)
    ]  # fmt: skip
    assert client.reader.invalidations() == []
    assert client.ledger.verify().findings == ()


def test_a_window_elsewhere_or_another_partition_is_not_enough(tmp_path: Path) -> None:
    client = built(tmp_path)
    row = client.operations.invalidate(BRONZE, JANUARY, Reason.LATE_DATA)
    publish(client, BRONZE, {"2026-02": [5]})
    february = Window(column="month", start="2026-02", end="2026-02")
    publish(client, BRONZE, {"2026-02": [5]}, window=february)
    assert standings(now(client, row))["bronze"] == "ready"
    publish(client, BRONZE, {"2026-01": [3]})
    assert standings(now(client, row))["bronze"] == "caught_up"


def test_rows_that_are_only_added_put_nothing_right(tmp_path: Path) -> None:
    client = built(tmp_path, dataset(BRONZE, load=LoadType.APPEND))
    row = client.operations.invalidate(BRONZE, JANUARY, Reason.CORRECTION)
    publish(client, BRONZE, {"2026-01": [3]})
    assert standings(now(client, row))["bronze"] == "ready"
    january = Window(column="month", start="2026-01", end="2026-01")
    publish(client, BRONZE, {"2026-01": [3]}, window=january)
    assert now(client, row).end is End.DONE


def test_all_of_a_load_that_reads_new_rows_only_is_all_its_partitions(tmp_path: Path) -> None:
    client = built(tmp_path, dataset(BRONZE, load=LoadType.APPEND))
    row = client.operations.invalidate(BRONZE, RowRange(), Reason.CORRECTION)
    assert row.reach == RowRange(partitions=("month=2026-01", "month=2026-02"))
    publish(client, BRONZE, {"2026-01": [3], "2026-02": [4]})
    assert now(client, row).end is None
    both = Window(column="month", start="2026-01", end="2026-02")
    publish(client, BRONZE, {"2026-01": [3], "2026-02": [4]}, window=both)
    assert now(client, row).end is End.DONE


def test_all_of_what_no_run_builds_again_is_refused(tmp_path: Path) -> None:
    client = built(tmp_path, dataset(BRONZE, load=LoadType.APPEND, by=()))
    with pytest.raises(NotFullyRebuilt, match="its load, APPEND, reads only new rows"):
        client.operations.invalidate(BRONZE, RowRange(), Reason.CORRECTION)
    assert client.reader.invalidations() == []


def test_a_dependent_without_the_column_is_built_whole(tmp_path: Path) -> None:
    silver = dataset(SILVER, BRONZE, load=LoadType.FULL, by=())
    client = built(tmp_path, dataset(BRONZE), silver)
    row = client.operations.invalidate(BRONZE, JANUARY, Reason.MANUAL)
    assert row.followers[1].reach == RowRange()
    publish(client, BRONZE, {"2026-01": [3]})
    january = Window(column="month", start="2026-01", end="2026-01")
    publish(client, SILVER, {"2026-01": [3], "2026-02": [2]}, window=january)
    assert standings(now(client, row))["silver"] == "ready"
    publish(client, SILVER, {"2026-01": [3], "2026-02": [2]})
    assert now(client, row).end is End.DONE


def test_a_run_that_found_nothing_to_do_has_caught_up(tmp_path: Path) -> None:
    client = built(tmp_path)
    row = client.operations.invalidate(BRONZE, JANUARY, Reason.MANUAL)
    publish(client, BRONZE, {"2026-01": [1]})
    unchanged(client, SILVER)
    row = now(client, row)
    assert standings(row) == {"bronze": "caught_up", "silver": "caught_up", "gold": "ready"}
    unchanged(client, GOLD)
    assert now(client, row).end is End.DONE


def test_jobs_of_those_who_may_are_launched_once_each(tmp_path: Path) -> None:
    client = built(tmp_path, jobs=BUILDS)
    row = client.operations.invalidate(BRONZE, JANUARY, Reason.CORRECTION)
    launched: list[tuple[str, int]] = []
    for name in (BRONZE, SILVER, GOLD):
        assert (client.operations.reconcile(), client.operations.reconcile()) == (1, 0)
        (task,) = client.jobs.tasks(state=TaskState.QUEUED)
        assert task.dataset == name
        result = publish(client, name, {"2026-01": [3]}, task_id=task.task_id)
        launched.append((str(task.job), result.version or 0))
    row = now(client, row)
    assert launched == [("build_bronze", 2), ("build_silver", 2), ("build_gold", 2)]
    assert row.end is End.DONE
    assert [item.task_id is not None for item in row.followers] == [True] * 3
    assert client.operations.reconcile() == 0
    assert len(client.reader.invalidations(every=True)) == 1


def test_a_job_that_changed_since_the_deployment_is_not_launched(tmp_path: Path) -> None:
    """Its launch would be refused, and never be wished again."""
    client = built(tmp_path, jobs=BUILDS)
    moved = JobDefinition(job="build_gold", dataset=BRONZE)
    gone = JobDefinition(job="build_bronze", dataset=GOLD)
    revised = Definitions(jobs=(moved, gone))
    client.registry.apply(client.registry.plan(revised))
    client.operations.invalidate(BRONZE, JANUARY, Reason.CORRECTION)
    assert client.operations.reconcile() == 0
    assert client.jobs.tasks(state=TaskState.BLOCKED) == []
    client.jobs.deploy()
    assert client.operations.reconcile() == 1
    assert [task.job for task in client.jobs.tasks(state=TaskState.QUEUED)] == ["build_gold"]


def test_windows_of_launched_runs_are_those_of_the_reach(tmp_path: Path) -> None:
    client = built(tmp_path, jobs=BUILDS)
    both = RowRange(partitions=("month=2026-02", "month=2026-01"))
    client.operations.invalidate(BRONZE, both, Reason.CORRECTION)
    client.operations.reconcile()
    (task,) = client.jobs.tasks(state=TaskState.QUEUED)
    result = publish(client, BRONZE, {"2026-01": [3], "2026-02": [4]}, task_id=task.task_id)
    run = client.reader.run(result.run_id)
    assert run.window == Window(column="month", start="2026-01", end="2026-02")


def test_what_nobody_heard_of_is_found_by_the_next_turn(tmp_path: Path) -> None:
    client = built(tmp_path, jobs=BUILDS)
    row = client.operations.invalidate(BRONZE, RowRange(), Reason.CORRECTION)
    for name in (BRONZE, SILVER, GOLD):  # by hand, and no turn in between
        publish(client, name, {"2026-01": [3], "2026-02": [2]})
    assert client.operations.reconcile() == 0
    assert client.reader.invalidation(row.invalidation_id).end is End.DONE


def test_a_launch_that_failed_is_not_launched_again_and_a_new_invalidation_is(
    tmp_path: Path,
) -> None:
    client = built(tmp_path, jobs=BUILDS)
    client.operations.invalidate(BRONZE, JANUARY, Reason.CORRECTION)
    client.operations.reconcile()
    (task,) = client.jobs.tasks(state=TaskState.QUEUED)
    client.jobs.cancel(task.task_id, "not now")
    assert client.operations.reconcile() == 0
    client.operations.invalidate(BRONZE, JANUARY, Reason.CORRECTION)
    assert client.operations.reconcile() == 1


def test_nobody_is_launched_twice_while_a_launch_waits_for_its_next_attempt(
    tmp_path: Path,
) -> None:
    client = built(tmp_path, jobs=BUILDS)
    client.operations.invalidate(BRONZE, JANUARY, Reason.CORRECTION)
    client.operations.reconcile()
    (claimed,) = client.dispatch.claim(this_process("by hand"))
    client.runs.open_claimed(claimed.ticket)
    client.runs.fail_run(
        claimed.ticket, Failure(code="BROKEN", message="not there", retryable=True)
    )
    client.operations.invalidate(BRONZE, JANUARY, Reason.CORRECTION)
    assert client.operations.reconcile() == 0
    (task,) = client.jobs.tasks(state=TaskState.FAILED)
    assert task.due_at is not None


def test_what_has_no_version_or_is_retired_holds_nobody_up(tmp_path: Path) -> None:
    client = project(tmp_path, *THREE)
    for name in (BRONZE, SILVER):
        publish(client, name, {"2026-01": [1]})
    row = client.operations.invalidate(BRONZE, JANUARY, Reason.MANUAL)
    assert standings(row)["gold"] == "not_affected"
    for name in (BRONZE, SILVER):
        publish(client, name, {"2026-01": [2]})
    assert now(client, row).end is End.DONE


def test_a_turn_that_changes_nothing_writes_nothing_and_asks_no_more_for_more_runs(
    tmp_path: Path,
) -> None:
    client = built(tmp_path, jobs=BUILDS)
    client.operations.invalidate(BRONZE, JANUARY, Reason.CORRECTION)
    client.operations.reconcile()
    assert isinstance(client.operations, EmbeddedOperations)
    database = client.operations.context.database
    asked = []
    for _ in range(2):
        unchanged(client, SILVER)
        unchanged(client, GOLD)
        with counted_statements(database) as sent:
            assert client.operations.reconcile() == 0
        assert not [given for given in sent if given.startswith(WRITING) or "advisory" in given]
        asked.append(len(sent))
    assert asked[0] == asked[1]


def test_it_can_be_withdrawn_with_a_reason_and_once(tmp_path: Path) -> None:
    client = built(tmp_path, jobs=BUILDS)
    row = client.operations.invalidate(BRONZE, JANUARY, Reason.MANUAL)
    with pytest.raises(WithdrawalReasonNeeded):
        client.operations.withdraw_invalidation(row.invalidation_id, " ")
    ended = client.operations.withdraw_invalidation(row.invalidation_id, "a mistake")
    assert ended.end is End.WITHDRAWN
    assert client.operations.reconcile() == 0
    assert not client.jobs.tasks(state=TaskState.QUEUED)
    with pytest.raises(InvalidationOver):
        client.operations.withdraw_invalidation(row.invalidation_id, "again")
    with pytest.raises(UnknownInvalidation):
        client.operations.withdraw_invalidation("inv_nobody", "again")


REFUSED = [
    (RowRange(partitions=("month=2025-01",)), "v1 has no partition month=2025-01"),
    (RowRange(partitions=("day=1",)), "it is partitioned by month, not by day"),
    (RowRange(partitions=("month",)), "invalid partition"),
    (RowRange(window=Window(column="x", start="1", end="2")), "column 'x' does not exist"),
    (RowRange(window=Window(column="n", start="2", end="1")), "before it starts"),
]


def test_a_part_that_is_not_there_is_refused(tmp_path: Path) -> None:
    client = project(tmp_path, dataset(BRONZE))
    with pytest.raises(UnknownRowRange, match="no version yet"):
        client.operations.invalidate(BRONZE, RowRange(), Reason.MANUAL)
    publish(client, BRONZE, {"2026-01": [1]})
    for reach, problem in REFUSED:
        with pytest.raises(UnknownRowRange, match=problem):
            client.operations.invalidate(BRONZE, reach, Reason.MANUAL)
    assert client.reader.invalidations() == []


def test_another_organisation_sees_and_ends_nothing(tmp_path: Path) -> None:
    client = built(tmp_path, jobs=BUILDS)
    row = client.operations.invalidate(BRONZE, JANUARY, Reason.MANUAL)
    settings = load_settings(tmp_path, None)
    other = wire(settings.model_copy(update={"organisation": "other"}), open_state(settings))
    assert list(other.reader.invalidations(every=True)) == []
    assert other.operations.reconcile() == 0
    with pytest.raises(UnknownInvalidation):
        other.reader.invalidation(row.invalidation_id)
    with pytest.raises(UnknownInvalidation):
        other.operations.withdraw_invalidation(row.invalidation_id, "mine")
    assert client.reader.invalidation(row.invalidation_id).end is None

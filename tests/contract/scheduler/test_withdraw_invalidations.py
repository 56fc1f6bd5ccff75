"""Who withdraws an invalidation also withdraws the work that nobody else asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.errors import TaskCanceled
from lakeguard_sdk.model.definitions import JobDefinition
from lakeguard_sdk.model.row_ranges import RowRange
from lakeguard_sdk.model.run import Failure
from lakeguard_sdk.scheduling.invalidations import End, InvalidationRow, Reason
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.lakes.partitioned_numbers import (
    BRONZE,
    Client,
    dataset,
    project,
    publish,
)

pytestmark = pytest.mark.usefixtures("each_state")
JANUARY = RowRange(partitions=("month=2026-01",))


@pytest.fixture
def client(tmp_path: Path) -> Client:
    made = project(tmp_path, dataset(BRONZE), jobs=(JobDefinition(job="build", dataset=BRONZE),))
    made.jobs.deploy()
    publish(made, BRONZE, {"2026-01": [1], "2026-02": [2]})
    return made


def invalidated(client: Client) -> InvalidationRow:
    return client.operations.invalidate(BRONZE, JANUARY, Reason.CORRECTION)


def launched(client: Client) -> str:
    assert client.operations.reconcile() == 1
    (task,) = client.jobs.tasks(state=TaskState.QUEUED)
    return task.task_id


def withdrawn(client: Client, row: InvalidationRow) -> InvalidationRow:
    return client.operations.withdraw_invalidation(row.invalidation_id, "it was right")


def test_it_is_told_who_withdrew_it_when_and_why(client: Client) -> None:
    row = invalidated(client)
    ended = withdrawn(client, row)
    assert (ended.end, ended.end_why, ended.ended_by) == (
        End.WITHDRAWN, "it was right", row.created_by
    )  # fmt: skip
    assert client.reader.invalidation(row.invalidation_id) == ended
    assert list(client.reader.invalidations(every=True)) == [ended]


def test_what_waits_for_it_alone_is_canceled_with_it(client: Client) -> None:
    row = invalidated(client)
    task_id = launched(client)
    ended = withdrawn(client, row)
    assert (ended.canceled, ended.going_on) == ((task_id,), ())
    last = client.jobs.transitions(task_id)[-1]
    assert (last.to_state, last.code, last.actor) == (
        TaskState.CANCELED, TaskCanceled.code, ended.ended_by
    )  # fmt: skip
    assert last.message == f"invalidation {row.invalidation_id} was withdrawn: it was right"
    assert client.ledger.verify().findings == ()


def test_what_waits_for_its_next_attempt_is_canceled_too(client: Client) -> None:
    row = invalidated(client)
    task_id = launched(client)
    (claimed,) = client.dispatch.claim(this_process("by hand"))
    client.runs.open_claimed(claimed.ticket)
    client.runs.fail_run(
        claimed.ticket, Failure(code="BROKEN", message="not there", retryable=True)
    )
    assert withdrawn(client, row).canceled == (task_id,)
    assert client.jobs.task(task_id).state is TaskState.CANCELED


def test_what_runs_goes_on_and_is_told_until_it_is_over(client: Client) -> None:
    row = invalidated(client)
    task_id = launched(client)
    (claimed,) = client.dispatch.claim(this_process("by hand"))
    client.runs.open_claimed(claimed.ticket)
    ended = withdrawn(client, row)
    assert (ended.canceled, ended.going_on) == ((), (task_id,))
    assert client.jobs.task(task_id).state is TaskState.RUNNING
    assert client.reader.invalidation(row.invalidation_id).going_on == (task_id,)
    client.jobs.cancel(task_id, "not needed")
    assert client.reader.invalidation(row.invalidation_id).going_on == ()


def test_what_another_invalidation_asked_for_too_stays(client: Client) -> None:
    first, second = invalidated(client), invalidated(client)
    task_id = launched(client)
    ended = withdrawn(client, first)
    assert (ended.canceled, ended.going_on) == ((), ())
    assert client.jobs.task(task_id).state is TaskState.QUEUED
    assert withdrawn(client, second).canceled == (task_id,)


def test_what_others_started_stays(client: Client) -> None:
    row = invalidated(client)
    started = client.jobs.trigger("build", "ann").task_id
    assert withdrawn(client, row).canceled == ()
    assert client.jobs.task(started).state is TaskState.QUEUED


def test_one_that_came_later_is_launched_after_the_withdrawal(client: Client) -> None:
    first = invalidated(client)
    task_id = launched(client)
    invalidated(client)
    assert client.operations.reconcile() == 0
    assert withdrawn(client, first).canceled == (task_id,)
    assert launched(client) != task_id

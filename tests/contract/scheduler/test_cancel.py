"""Canceling a build that ends by itself, or begins again, at the same moment."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.promotion.moves.cancel import MOST_ROUNDS
from lakeguard_sdk import Client, connect
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.errors import NotCancelable
from lakeguard_sdk.model.run import (
    Failure,
    Intent,
    RunPlan,
    RunTicket,
)
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.fakes.killed_at import meanwhile
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.published_by_hand import evidence_of
from tests.support.projects.jobs import job_project
from tests.support.projects.planes import NUMBERS

pytestmark = pytest.mark.usefixtures("each_state")

PASSING = Failure(code="BUSY", message="later", retryable=True)


def begin_moving(client: Client, task_id: str) -> tuple[RunTicket, Intent]:
    """The next attempt of a build, which is about to commit."""
    plan = client.runs.open_run(task_id, this_process("test"))
    assert isinstance(plan, RunPlan)
    client.runs.submit_schema(plan.ticket, plan.declared)
    client.runs.submit_evidence(plan.ticket, evidence_of(DeltaLake(), plan, [2]))
    return plan.ticket, client.runs.begin_move(plan.ticket)


def trigger(client: Client) -> str:
    return client.jobs.trigger("numbers", "tests").task_id


def begin_again(client: Client, task_id: str, ticket: RunTicket) -> RunTicket:
    """The attempt fails by itself, somebody tries the task again, and that attempt moves too."""
    client.runs.fail_run(ticket, PASSING)
    client.jobs.retry(task_id)
    return begin_moving(client, task_id)[0]


def test_what_fails_by_itself_meanwhile_is_not_tried_again(tmp_path: Path) -> None:
    client, worker = job_project(tmp_path), connect(tmp_path)
    task_id = trigger(client)
    ticket, _ = begin_moving(worker, task_id)
    with meanwhile("task.canceling", lambda: worker.runs.fail_run(ticket, PASSING)):
        canceled = client.jobs.cancel(task_id, "a mistake")
    assert (canceled.state, canceled.due_at) == (TaskState.CANCELED, None)
    described = [(each.to_state, each.message) for each in client.jobs.transitions(task_id)[-2:]]
    assert described == [(TaskState.FAILED, "later"), (TaskState.CANCELED, "a mistake")]
    assert list(client.reader.versions(NUMBERS)) == []


def test_what_is_completed_meanwhile_stays_so(tmp_path: Path) -> None:
    client, worker = job_project(tmp_path), connect(tmp_path)
    task_id = trigger(client)
    ticket, intent = begin_moving(worker, task_id)

    def complete() -> None:
        worker.runs.complete_move(ticket, DeltaLake().publish(intent))

    with meanwhile("task.canceling", complete):
        assert client.jobs.cancel(task_id).state is TaskState.COMPLETED
    assert [each.version for each in client.reader.versions(NUMBERS)] == [1]


def test_an_attempt_that_began_meanwhile_is_canceled_too(tmp_path: Path) -> None:
    client, worker = job_project(tmp_path), connect(tmp_path)
    task_id = trigger(client)
    ticket, _ = begin_moving(worker, task_id)
    with meanwhile("task.canceling", lambda: begin_again(worker, task_id, ticket)):
        canceled = client.jobs.cancel(task_id)
    assert (canceled.state, canceled.attempt) == (TaskState.CANCELED, 2)
    assert list(client.reader.versions(NUMBERS)) == []


def test_who_cannot_keep_up_with_new_attempts_is_told(tmp_path: Path) -> None:
    client, worker = job_project(tmp_path), connect(tmp_path)
    task_id = trigger(client)
    tickets = [begin_moving(worker, task_id)[0]]

    def again() -> None:
        tickets.append(begin_again(worker, task_id, tickets[-1]))

    with meanwhile("task.canceling", again, MOST_ROUNDS), pytest.raises(NotCancelable):
        client.jobs.cancel(task_id)
    assert client.jobs.task(task_id).state is TaskState.RUNNING
    assert client.jobs.cancel(task_id).state is TaskState.CANCELED

"""Builds from the queue: opened by their ticket, fenced when canceled, left to who runs them."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select

from lakeguard.access.principal import TaskGrants
from lakeguard.access.task_tokens import TaskTokens, grants_of
from lakeguard.plane import keys_of
from lakeguard.services.ports.dispatch import EmbeddedDispatch
from lakeguard.settings import load_settings
from lakeguard.state.schema import task_attempts
from lakeguard_sdk import Client, connect
from lakeguard_sdk.core.enums import RunStatus, TaskKind, TaskState
from lakeguard_sdk.errors import Fenced, NeverStarted, NotPermitted
from lakeguard_sdk.model.run import (
    Failure,
    Intent,
    RunPlan,
    RunTicket,
)
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.published_by_hand import evidence_of
from tests.support.projects.job_graphs import (
    DOUBLES,
    LOAD,
    deployed_world,
    job,
    revise,
)
from tests.support.projects.planes import ELSEWHERE, NUMBERS, Clock

pytestmark = pytest.mark.usefixtures("each_state")

BUSY = Failure(code="LG-4002", message="the table moved", retryable=True)
INTERRUPTED = Failure(code="LG-5011", message="somebody stopped it")


@pytest.fixture
def client(tmp_path: Path, turned_clock: Clock) -> Client:
    return deployed_world(tmp_path, jobs=(LOAD,))


def claimed(client: Client, clock: Clock) -> RunTicket:
    """The ticket of a build that a worker took."""
    clock.pass_time(1)
    client.jobs.trigger("load", "test")
    (given,) = client.dispatch.claim(ELSEWHERE, limit=5)
    assert (given.kind, given.dataset) == (TaskKind.BUILD, NUMBERS)
    return given.ticket


def approved(client: Client, ticket: RunTicket, numbers: list[int]) -> Intent:
    plan = client.runs.open_claimed(ticket)
    assert isinstance(plan, RunPlan)
    client.runs.submit_schema(ticket, plan.declared)
    client.runs.submit_evidence(ticket, evidence_of(DeltaLake(), plan, numbers))
    return client.runs.begin_move(ticket)


def test_what_somebody_runs_himself_no_worker_takes(client: Client, turned_clock: Clock) -> None:
    task_id = client.operations.submit(NUMBERS, "test")
    assert client.dispatch.claim(ELSEWHERE, limit=5) == ()
    plan = client.runs.open_run(task_id, this_process("test"))
    assert isinstance(plan, RunPlan)
    client.runs.fail_run(plan.ticket, BUSY)
    assert client.operations.requeue(task_id)
    turned_clock.pass_time(60)
    assert client.dispatch.claim(ELSEWHERE, limit=5) == ()
    assert isinstance(client.runs.open_run(task_id, this_process("test")), RunPlan)


def test_what_a_worker_has_nobody_starts_by_hand(client: Client, turned_clock: Clock) -> None:
    ticket = claimed(client, turned_clock)
    with pytest.raises(Fenced):
        client.runs.open_run(ticket.task_id, this_process("test"))


def test_what_nobody_began_in_time_is_ended_and_left_to_no_worker(
    client: Client, turned_clock: Clock
) -> None:
    task_id = client.operations.submit(NUMBERS, "test")
    turned_clock.pass_time(24 * 3600)
    assert client.dispatch.claim(ELSEWHERE, limit=5) == ()
    assert client.jobs.tick().reaped == 1
    last = client.jobs.transitions(task_id)[-1]
    assert (last.to_state, last.code) == (TaskState.CANCELED, NeverStarted.code)
    assert last.actor == "dispatcher:ends"
    assert client.dispatch.claim(ELSEWHERE, limit=5) == ()
    with pytest.raises(Fenced):
        client.runs.open_run(task_id, this_process("test"))


def test_a_run_that_died_in_the_hands_of_a_person_is_repeated_by_no_worker(
    client: Client, turned_clock: Clock
) -> None:
    task_id = client.operations.submit(NUMBERS, "test")
    client.runs.open_run(task_id, ELSEWHERE)
    turned_clock.pass_time(3600)
    assert client.jobs.tick().reaped == 1
    turned_clock.pass_time(24 * 3600)
    assert client.jobs.tick().retried == 0
    assert client.dispatch.claim(ELSEWHERE, limit=5) == ()
    assert client.jobs.task(task_id).state is TaskState.FAILED


def test_the_same_key_is_resumed_until_it_is_completed_and_never_again(client: Client) -> None:
    def task() -> str:
        return client.operations.submit(NUMBERS, "test", key="batch 7")

    assert client.operations.resume(task()) is TaskState.QUEUED, "it was just submitted"
    for _ in range(4):
        plan = client.runs.open_run(task(), this_process("test"))
        assert isinstance(plan, RunPlan)
        assert client.operations.resume(task()) is TaskState.RUNNING
        client.runs.fail_run(plan.ticket, BUSY)
        assert client.operations.resume(task()) is TaskState.QUEUED, "beyond the automatic attempts"
    plan = client.runs.open_run(task(), this_process("test"))
    assert isinstance(plan, RunPlan)
    client.runs.finish_unchanged(plan.ticket)
    assert client.operations.resume(task()) is TaskState.COMPLETED
    with pytest.raises(Fenced):
        client.runs.open_run(task(), this_process("test"))
    assert client.dispatch.claim(ELSEWHERE, limit=5) == ()


def test_no_worker_takes_what_is_resumed(client: Client) -> None:
    task = client.operations.submit(NUMBERS, "test", key="batch 8")
    plan = client.runs.open_run(task, this_process("test"))
    assert isinstance(plan, RunPlan)
    client.runs.fail_run(plan.ticket, INTERRUPTED)
    assert client.operations.resume(task) is TaskState.QUEUED
    assert client.dispatch.claim(ELSEWHERE, limit=5) == ()


def terms_kept(client: Client) -> list[str | None]:
    """Of every attempt, the hash of the terms that it runs under."""
    assert isinstance(client.dispatch, EmbeddedDispatch)
    with client.dispatch.context.read() as tx:
        return list(tx.scalars(select(task_attempts.c.config_hash)))


def test_a_run_by_hand_waits_for_none_of_its_job_and_counts_as_one(
    tmp_path: Path, turned_clock: Clock
) -> None:
    client = deployed_world(tmp_path)
    by_hand = client.operations.submit(NUMBERS, "test")
    launched = client.jobs.trigger("load", "test").task_id
    (given,) = client.dispatch.claim(ELSEWHERE, limit=5)
    assert given.ticket.task_id == launched
    assert isinstance(client.runs.open_run(by_hand, this_process("test")), RunPlan)
    first, second = terms_kept(client)
    assert first == second is not None
    client.jobs.cancel(launched)
    client.jobs.trigger("load", "test")
    assert client.dispatch.claim(ELSEWHERE, limit=5) == (), "one of one is under way"


def test_what_is_submitted_of_a_job_is_held_to_its_settings(
    tmp_path: Path, turned_clock: Clock
) -> None:
    config = {"labels": "gpu", "priority": "7", "attempts": "1"}
    client = deployed_world(tmp_path, jobs=(job("load", dataset=NUMBERS, config=config),))
    row = client.jobs.task(client.operations.submit(NUMBERS, "test"))
    assert (row.labels, row.priority, row.max_attempts) == (("gpu",), 7, 1)


def test_a_worker_is_told_what_it_builds_wherever_the_job_has_moved(
    tmp_path: Path, turned_clock: Clock
) -> None:
    client = deployed_world(tmp_path, jobs=(LOAD,))
    client.jobs.trigger("load", "test")
    revise(client, job("load", dataset=DOUBLES))
    (given,) = client.dispatch.claim(ELSEWHERE)
    assert (given.job, given.dataset) == ("load", NUMBERS)


def test_a_claimed_build_is_opened_and_published(client: Client, turned_clock: Clock) -> None:
    ticket = claimed(client, turned_clock)
    first = client.runs.open_claimed(ticket)
    assert client.runs.open_claimed(ticket) == first, "a lost reply is asked for again"
    commit = DeltaLake().publish(approved(client, ticket, [1, 2]))
    result = client.runs.complete_move(ticket, commit)
    assert (result.status, result.version) == (RunStatus.SUCCESS, 1)
    assert client.runs.open_claimed(ticket) == result
    assert client.jobs.task(ticket.task_id).state is TaskState.COMPLETED


def test_a_ticket_opens_its_own_build_alone(
    client: Client, turned_clock: Clock, tmp_path: Path
) -> None:
    ticket = claimed(client, turned_clock)
    forged = ticket.model_copy(update={"lease_token": "lease_x"})
    with pytest.raises(Fenced):
        client.runs.open_claimed(forged)
    held = connect(tmp_path, ticket=ticket)
    assert isinstance(held.runs.open_claimed(ticket), RunPlan)
    with pytest.raises(NotPermitted):
        held.runs.open_claimed(forged)
    with pytest.raises(NotPermitted):
        held.dispatch.claim(ELSEWHERE)


def granted(client: Client, ticket: RunTicket, folder: Path, clock: Clock) -> TaskGrants:
    settings = load_settings(folder)
    tokens = TaskTokens(keys_of(settings), settings.organisation)
    task = tokens.read(client.runs.task_token(ticket), clock()).task
    assert task is not None
    return task


def test_a_token_names_what_the_run_was_given(
    client: Client, turned_clock: Clock, tmp_path: Path
) -> None:
    ticket = claimed(client, turned_clock)
    assert granted(client, ticket, tmp_path, turned_clock) == TaskGrants(ticket)
    plan = client.runs.open_claimed(ticket)
    assert isinstance(plan, RunPlan)
    opened = granted(client, ticket, tmp_path, turned_clock)
    assert opened == grants_of(plan, client.lake)
    assert opened.may_write(f"{plan.location}/{plan.staging}/part.parquet")
    held = connect(tmp_path, ticket=ticket)
    assert granted(held, ticket, tmp_path, turned_clock) == opened


def test_there_is_a_token_while_the_lease_holds(client: Client, turned_clock: Clock) -> None:
    ticket = claimed(client, turned_clock)
    with pytest.raises(Fenced):
        client.runs.task_token(ticket.model_copy(update={"lease_token": "lease_x"}))
    client.runs.open_claimed(ticket)
    turned_clock.pass_time(60)
    assert client.runs.task_token(ticket)
    turned_clock.pass_time(61)
    with pytest.raises(Fenced, match="its lease is over"):
        client.runs.task_token(ticket)
    client.runs.fail_run(ticket, BUSY)
    with pytest.raises(Fenced):
        client.runs.task_token(ticket)


def test_a_build_that_failed_is_tried_again_by_itself(client: Client, turned_clock: Clock) -> None:
    ticket = claimed(client, turned_clock)
    client.runs.open_claimed(ticket)
    client.runs.fail_run(ticket, BUSY)
    row = client.jobs.task(ticket.task_id)
    assert (row.state, row.due_at is not None) == (TaskState.FAILED, True)
    turned_clock.pass_time(31)
    assert client.jobs.tick().retried == 1
    assert client.jobs.transitions(ticket.task_id)[-1].actor == "dispatcher:retries"
    (again,) = client.dispatch.claim(ELSEWHERE)
    assert (again.ticket.task_id, again.ticket.attempt) == (ticket.task_id, 2)


def test_what_a_person_interrupted_stays_so(client: Client, turned_clock: Clock) -> None:
    ticket = claimed(client, turned_clock)
    client.runs.fail_run(ticket, INTERRUPTED)
    turned_clock.pass_time(10_000)
    assert client.jobs.tick().retried == 0
    assert client.jobs.task(ticket.task_id).state is TaskState.FAILED


def test_a_worker_that_is_never_heard_of_again_counts_as_an_attempt(
    client: Client, turned_clock: Clock
) -> None:
    ticket = claimed(client, turned_clock)
    for _ in range(3):
        turned_clock.pass_time(601)
        client.operations.reap()
        turned_clock.pass_time(601)
        client.jobs.tick()
        client.dispatch.claim(ELSEWHERE)
    row = client.jobs.task(ticket.task_id)
    assert (row.state, row.attempt) == (TaskState.DEAD, 3)
    assert [run.status for run in client.reader.runs(NUMBERS)] == [RunStatus.FAILED] * 3


def test_canceling_ends_a_build_that_has_not_moved(client: Client, turned_clock: Clock) -> None:
    ticket = claimed(client, turned_clock)
    plan = client.runs.open_claimed(ticket)
    assert isinstance(plan, RunPlan)
    assert client.jobs.cancel(ticket.task_id, "wrong day").state is TaskState.CANCELED
    with pytest.raises(Fenced):
        client.runs.submit_schema(ticket, plan.declared)
    assert client.runs.fail_run(ticket, BUSY).status is RunStatus.FAILED
    path = [each.to_state for each in client.jobs.transitions(ticket.task_id)]
    assert path == [TaskState.QUEUED, TaskState.RUNNING, TaskState.CANCELED]


def test_canceling_fences_a_move_that_is_under_way(client: Client, turned_clock: Clock) -> None:
    ticket = claimed(client, turned_clock)
    intent = approved(client, ticket, [1, 2])
    assert client.jobs.cancel(ticket.task_id).state is TaskState.CANCELED
    with pytest.raises(Exception, match=r"busy|changed during|ended|taken"):
        DeltaLake().publish(intent)
    assert client.reader.versions(NUMBERS) == []
    assert client.jobs.retry(ticket.task_id).state is TaskState.QUEUED


def test_canceling_comes_too_late_for_a_commit_that_stands(
    client: Client, turned_clock: Clock
) -> None:
    ticket = claimed(client, turned_clock)
    commit = DeltaLake().publish(approved(client, ticket, [1, 2]))
    assert client.jobs.cancel(ticket.task_id).state is TaskState.COMPLETED
    assert client.runs.complete_move(ticket, commit).version == 1

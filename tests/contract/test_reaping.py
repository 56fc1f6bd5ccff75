"""Ending what is dead: whoever is alive is not disturbed, and what cannot be ended is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lakeguard.dispatch.lapsing import end_lapsed
from lakeguard.state.database import Database
from lakeguard_sdk.run import RunPlan
from lakeguard_sdk.words import TaskState
from tests.worlds.databases import KINDS, discard, fresh_database
from tests.worlds.hand_work import evidence_of, run_by_hand
from tests.worlds.lakes import DeltaLake
from tests.worlds.planes import ELSEWHERE, NUMBERS, Clock
from tests.worlds.projects import numbers_project
from tests.worlds.queues import job, make_queue


@pytest.fixture(params=KINDS)
def state(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    made = fresh_database(request.param, tmp_path)
    made.migrate()
    yield made
    discard(made)


def test_who_is_alive_is_looked_at_and_not_locked(state: Database) -> None:
    queue = make_queue(state, job("sweep", concurrency=2))
    queue.put("sweep", 2)
    queue.claim(2)
    heart = queue.heart
    with state.read() as connection:  # where no row can be locked
        ended = end_lapsed(
            connection, heart.org_id, actor="reaper", at=heart.clock(), rules=heart.dispatch
        )
    assert ended == []


@pytest.mark.usefixtures("each_state")
def test_what_cannot_be_ended_is_told_at_each_turn(tmp_path: Path, turned_clock: Clock) -> None:
    client = numbers_project(tmp_path)
    run_by_hand(client, [1])
    task_id = client.operations.submit(NUMBERS, "test")
    plan = client.runs.open_run(task_id, ELSEWHERE)
    assert isinstance(plan, RunPlan)
    client.runs.submit_schema(plan.ticket, plan.declared)
    client.runs.submit_evidence(plan.ticket, evidence_of(DeltaLake(), plan, [2]))
    client.runs.begin_move(plan.ticket)
    log = tmp_path / "bronze" / "numbers" / "_delta_log" / f"{1:020d}.json"
    whole = log.read_bytes()
    log.write_bytes(whole[:40])
    turned_clock.pass_time(3600)
    for _ in range(2):
        (problem,) = client.jobs.tick().problems
        assert problem.startswith(f"run {plan.ticket.run_id} could not be ended: ")
    assert client.jobs.task(task_id).state is TaskState.RUNNING
    log.write_bytes(whole)
    done = client.jobs.tick()
    assert (done.reaped, done.problems) == (1, ())
    assert client.jobs.transitions(task_id)[-1].actor == "dispatcher:ends"


@pytest.mark.usefixtures("each_state")
def test_what_a_turn_ends_is_the_dispatchers_deed(tmp_path: Path, turned_clock: Clock) -> None:
    client = numbers_project(tmp_path)
    task_id = client.operations.submit(NUMBERS, "test")
    client.runs.open_run(task_id, ELSEWHERE)
    turned_clock.pass_time(3600)
    assert client.jobs.tick().reaped == 1
    last = client.jobs.transitions(task_id)[-1]
    assert (last.to_state, last.actor) == (TaskState.FAILED, "dispatcher:ends")

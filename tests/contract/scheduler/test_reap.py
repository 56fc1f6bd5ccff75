"""Ending what is dead: whoever is alive is not disturbed, and what cannot be ended is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lakeguard.dispatch.leases import end_lapsed
from lakeguard.lake.delta import DeltaTables
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.errors import Fenced, TableUnreadable
from lakeguard_sdk.model.delta_log import Commit
from lakeguard_sdk.model.run import RunPlan
from tests.support.databases.databases import KINDS, discard, migrated_database
from tests.support.fakes.killed_at import meanwhile
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.published_by_hand import evidence_of, run_by_hand
from tests.support.projects.job_graphs import deployed_world
from tests.support.projects.planes import ELSEWHERE, NUMBERS, Clock
from tests.support.projects.projects import numbers_project
from tests.support.projects.queues import job, make_queue
from tests.support.projects.shell import Shell


@pytest.fixture(params=KINDS)
def state(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    made = migrated_database(request.param, tmp_path)
    yield made
    discard(made)


def test_who_is_alive_is_looked_at_and_not_locked(state: Database) -> None:
    queue = make_queue(state, job("sweep", concurrency=2))
    queue.put("sweep", 2)
    queue.claim(2)
    context = queue.context
    with OrganisationState.of(
        state, context.org_id, context.clock, actor="reaper"
    ).read() as tx:  # where no row can be locked
        ended = end_lapsed(tx, rules=context.dispatch)
    assert ended == []


@pytest.mark.usefixtures("each_state")
def test_what_cannot_be_ended_is_told_at_each_turn(
    tmp_path: Path, turned_clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = numbers_project(tmp_path)
    run_by_hand(client, [1])
    task_id = client.operations.submit(NUMBERS, "test")
    plan = client.runs.open_run(task_id, ELSEWHERE)
    assert isinstance(plan, RunPlan)
    client.runs.submit_schema(plan.ticket, plan.declared)
    client.runs.submit_evidence(plan.ticket, evidence_of(DeltaLake(), plan, [2]))
    client.runs.begin_move(plan.ticket)

    def away(_tables: object, _intent: object) -> Commit:
        raise TableUnreadable(dataset=NUMBERS, reason="its storage is away")

    monkeypatch.setattr(DeltaTables, "fence", away)
    turned_clock.pass_time(3600)
    for _ in range(2):
        (problem,) = client.jobs.tick().problems
        assert problem.startswith(f"run {plan.ticket.run_id} could not be ended: ")
    assert client.jobs.task(task_id).state is TaskState.RUNNING
    monkeypatch.undo()
    done = client.jobs.tick()
    assert (done.reaped, done.problems) == (1, ())
    assert client.jobs.transitions(task_id)[-1].actor == "dispatcher:ends"


@pytest.mark.usefixtures("each_state")
def test_a_run_whose_lease_is_over_begins_no_move(tmp_path: Path, turned_clock: Clock) -> None:
    """Also if nobody has reaped it yet."""
    client = numbers_project(tmp_path)
    plan = client.runs.open_run(client.operations.submit(NUMBERS, "test"), ELSEWHERE)
    assert isinstance(plan, RunPlan)
    client.runs.submit_schema(plan.ticket, plan.declared)
    assert client.runs.submit_evidence(plan.ticket, evidence_of(DeltaLake(), plan, [1])).allowed
    turned_clock.pass_time(3600)
    with pytest.raises(Fenced, match="its lease is over"):
        client.runs.begin_move(plan.ticket)
    (ended,) = client.operations.reap()
    assert (ended.state, ended.version) == (TaskState.FAILED, None)
    assert run_by_hand(client, [2]).version == 1


@pytest.mark.usefixtures("each_state")
def test_a_lease_extended_while_the_reaper_looks_is_not_ended(
    tmp_path: Path, turned_clock: Clock
) -> None:
    """The lease that the reaper has read is over; the one that holds now is not."""
    client = numbers_project(tmp_path)
    task_id = client.operations.submit(NUMBERS, "test")
    plan = client.runs.open_run(task_id, ELSEWHERE)
    assert isinstance(plan, RunPlan)
    ticket = plan.ticket
    turned_clock.pass_time(100)

    def extend() -> None:
        client.runs.heartbeat(ticket)
        turned_clock.pass_time(60)

    with meanwhile("reap.judged", extend):
        assert client.operations.reap() == []
    assert client.jobs.task(task_id).state is TaskState.RUNNING


@pytest.mark.usefixtures("each_state")
def test_what_a_turn_ends_is_the_dispatchers_deed(tmp_path: Path, turned_clock: Clock) -> None:
    client = numbers_project(tmp_path)
    task_id = client.operations.submit(NUMBERS, "test")
    client.runs.open_run(task_id, ELSEWHERE)
    turned_clock.pass_time(3600)
    assert client.jobs.tick().reaped == 1
    last = client.jobs.transitions(task_id)[-1]
    assert (last.to_state, last.actor) == (TaskState.FAILED, "dispatcher:ends")


@pytest.mark.usefixtures("each_state")
def test_whoever_ends_what_is_dead_is_told_of_each(tmp_path: Path, turned_clock: Clock) -> None:
    client = deployed_world(tmp_path)
    begun_at = turned_clock()
    build = client.operations.submit(NUMBERS, "test")
    plan = client.runs.open_run(build, ELSEWHERE)
    assert isinstance(plan, RunPlan)
    report = client.jobs.trigger("report", "test").task_id
    (claimed,) = client.dispatch.claim(ELSEWHERE)
    turned_clock.pass_time(3600)
    first, second = client.operations.reap()
    assert (first.task_id, first.run_id, first.name) == (build, plan.ticket.run_id, "load")
    assert (second.task_id, second.run_id) == (report, claimed.ticket.run_id)
    assert second.name == "report"
    for each in (first, second):
        assert (each.worker, each.reason) == (ELSEWHERE, "its lease is over")
        assert (each.state, each.version) == (TaskState.FAILED, None)
        assert each.lease_expires_at is not None
        assert begun_at <= each.begun_at < each.lease_expires_at < turned_clock()
    assert client.operations.reap() == []


def test_a_command_that_writes_tells_in_a_line_what_it_ended(
    tmp_path: Path, turned_clock: Clock, shell: Shell
) -> None:
    client = deployed_world(tmp_path)
    task_id = client.jobs.trigger("report", "test").task_id
    (claimed,) = client.dispatch.claim(ELSEWHERE)
    turned_clock.pass_time(3600)
    (line,) = shell("jobs", "disable", "load", "--project", tmp_path).err.splitlines()
    run_id, worker = claimed.ticket.run_id, f"{ELSEWHERE.host}:{ELSEWHERE.pid}"
    assert line.startswith(
        f"task {task_id} of report was abandoned (run {run_id}, begun by {worker} at 20"
    )
    assert line.endswith(" UTC): its lease is over; it was ended, and the task is failed")
    assert ", lease until 20" in line
    assert shell("jobs", "enable", "load", "--project", tmp_path).err == ""

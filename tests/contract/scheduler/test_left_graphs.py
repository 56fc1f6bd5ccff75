"""Work of graphs that were left: which those are, and that one that cannot be ended stops none."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.promotion.moves.cancel import cancel_left
from lakeguard.scheduler.graph.deploy import cancel_superseded
from lakeguard.services.ports.jobs import EmbeddedJobs
from lakeguard_sdk import Client, connect
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.errors import StateUnavailable
from lakeguard_sdk.model.run import Intent, RunPlan
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.fakes.killed_at import meanwhile
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.published_by_hand import evidence_of, run_by_hand
from tests.support.projects.job_graphs import deployed_world, job, revise
from tests.support.projects.planes import Clock

pytestmark = pytest.mark.usefixtures("each_state")

LATE = job("late", type="python", config={"call": "jobs.late:main"})
FENCE = "lakeguard.lake.delta.DeltaTables.fence"


def begin_load(client: Client) -> str:
    """A build of the numbers, begun and not further."""
    task_id = client.jobs.trigger("load", "tests").task_id
    assert isinstance(client.runs.open_run(task_id, this_process("test")), RunPlan)
    return task_id


def begin_moving(client: Client) -> tuple[str, Intent]:
    """A build of the numbers that is about to commit."""
    task_id = client.jobs.trigger("load", "tests").task_id
    plan = client.runs.open_run(task_id, this_process("test"))
    assert isinstance(plan, RunPlan)
    client.runs.submit_schema(plan.ticket, plan.declared)
    client.runs.submit_evidence(plan.ticket, evidence_of(DeltaLake(), plan, [2]))
    return task_id, client.runs.begin_move(plan.ticket)


def begin_late(client: Client) -> str:
    task_id = client.jobs.trigger("late", "tests").task_id
    (claimed,) = client.dispatch.claim(this_process("test"), only=task_id)
    assert claimed.ticket.task_id == task_id
    return task_id


def newer(client: Client) -> tuple[str, str]:
    """Deploys one more job; the versions before and after."""
    (before,) = client.jobs.dag_versions()
    revise(client, LATE)
    return before.dag_version_id, client.jobs.deploy("more").dag_version_id


def test_who_comes_back_meanwhile_keeps_what_runs(tmp_path: Path) -> None:
    """One task was canceled while its graph was left; at the next it is the active one again."""
    client = deployed_world(tmp_path)
    before, after = newer(client)
    first, second = begin_load(client), begin_late(client)
    other = connect(tmp_path)
    with meanwhile("task.canceling", lambda: other.jobs.deploy(to=after)):
        done = client.jobs.deploy(to=before)
    assert [each.dag_version_id for each in client.jobs.dag_versions() if each.active] == [after]
    assert (done.canceled, done.problems) == ((first,), ())
    assert client.jobs.task(second).state is TaskState.RUNNING


def test_what_is_left_no_more_is_not_canceled(tmp_path: Path) -> None:
    client = deployed_world(tmp_path)
    newer(client)
    task_id = begin_late(client)
    assert isinstance(client.jobs, EmbeddedJobs)
    assert cancel_left(client.jobs.context, task_id) is None
    assert client.jobs.task(task_id).state is TaskState.RUNNING


def test_one_that_cannot_be_ended_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The graph is deployed all the same, and the next turn ends the one."""
    client = deployed_world(tmp_path)
    run_by_hand(client, [1])
    before, _ = newer(client)
    (stuck, _), other = begin_moving(client), begin_late(client)
    with monkeypatch.context() as away:
        away.setattr(FENCE, unreadable)
        done = client.jobs.deploy(to=before)
        assert (done.changed, done.canceled) == (True, (other,))
        text = f"task {stuck} could not be canceled: the lake is away"
        assert done.problems == (text,)
        turn = client.jobs.tick()
        assert (turn.reaped, text in turn.problems) == (0, True)
    assert client.jobs.task(stuck).state is TaskState.RUNNING
    assert client.jobs.tick().reaped == 1
    assert client.jobs.task(stuck).state is TaskState.CANCELED


def unreadable(*_: object) -> None:
    raise OSError("the lake is away")


def test_a_deployment_is_done_even_if_the_state_is_away_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = deployed_world(tmp_path)
    before, _ = newer(client)
    task_id = begin_late(client)

    def away(*_: object) -> None:
        raise StateUnavailable(place="the State", reason="it is away")

    with monkeypatch.context() as patched:
        patched.setattr("lakeguard.scheduler.graph.deploy.cancel_left", away)
        done = client.jobs.deploy(to=before)
        assert (done.dag_version_id, done.canceled) == (before, ())
        assert (
            [given for given in done.problems if "it is away" in given] == list(done.problems) != []
        )
        assert any("it is away" in given for given in client.jobs.tick().problems)
    assert client.jobs.tick().reaped == 1
    assert client.jobs.task(task_id).state is TaskState.CANCELED


def test_which_graph_is_newer_is_not_told_by_a_clock(tmp_path: Path, turned_clock: Clock) -> None:
    """It was set back between two deployments."""
    client = deployed_world(tmp_path)
    task_id = client.jobs.trigger("report", "tests").task_id
    client.dispatch.claim(this_process("test"))
    turned_clock.pass_time(-60)
    before, after = newer(client)
    assert client.jobs.task(task_id).state is TaskState.RUNNING
    assert [each.dag_version_id for each in client.jobs.dag_versions()] == [after, before]
    late = client.jobs.trigger("late", "tests").task_id
    assert client.jobs.deploy(to=before).canceled == (late,)
    assert client.jobs.deploy(to=after).canceled == ()
    assert client.jobs.deploy(to=before).canceled == ()
    assert client.jobs.task(task_id).state is TaskState.RUNNING


def test_nothing_is_ended_before_the_first_deployment(tmp_path: Path) -> None:
    client = deployed_world(tmp_path / "mine")
    assert isinstance(client.jobs, EmbeddedJobs)
    found = cancel_superseded(client.jobs.context)
    assert (found.canceled, found.problems) == ([], [])

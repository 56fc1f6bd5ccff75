"""Graphs: the same content is the same version, and what a newer one began ends with it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import event, func, insert, select

from lakeguard.scheduler.graph.deploy import Superseded, cancel_superseded
from lakeguard.services.ports.jobs import EmbeddedJobs
from lakeguard.state.schema import dag_activations, dag_versions
from lakeguard_sdk import Client, connect
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.errors import (
    BaseChanged,
    Fenced,
    GraphRolledBack,
    NotRetryable,
    SecretInReason,
    UnknownGraph,
)
from lakeguard_sdk.model.run import Failure, RunPlan
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.scheduling.tasks import TaskAnswer, TaskReport
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.published_by_hand import evidence_of, run_by_hand
from tests.support.projects.job_graphs import (
    DOUBLE,
    LOAD,
    REPORT,
    deployed_world,
    job,
    revise,
    world,
)
from tests.support.projects.jobs import state_of
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import make_project

pytestmark = pytest.mark.usefixtures("each_state")

LATE = job("late", type="python", config={"call": "jobs.late:main", "after": "report"})


def activations(folder: Path) -> int:
    with state_of(folder).read("default") as connection:
        return connection.scalar(select(func.count()).select_from(dag_activations)) or 0


def newer(client: Client) -> tuple[str, str]:
    """Deploys one more job; the versions before and after."""
    (before,) = client.jobs.dag_versions()
    revise(client, LATE)
    return before.dag_version_id, client.jobs.deploy("more").dag_version_id


def test_the_difference_is_shown_and_the_same_again_is_nothing(tmp_path: Path) -> None:
    client = make_project(tmp_path, world())
    planned = client.jobs.deploy_plan()
    assert planned.changed
    assert client.jobs.dag_versions() == []
    first = client.jobs.deploy("first")
    assert (
        first.added
        == planned.added
        == (
            "dataset bronze.numbers",
            "dataset silver.doubles",
            "job double",
            "job load",
            "job report",
            "job shell",
            "dependency bronze.numbers → silver.doubles",
            "dependency job load → double",
        )
    )
    again = client.jobs.deploy("again")
    assert not again.changed
    assert (again.dag_version_id, again.dag_hash) == (first.dag_version_id, first.dag_hash)
    assert activations(tmp_path) == 1


def test_what_is_added_removed_and_altered(tmp_path: Path) -> None:
    client = deployed_world(tmp_path)
    revise(client, LATE, DOUBLE.model_copy(update={"config": {}}))
    revise(
        client,
        REPORT.model_copy(
            update={
                "type": "http",
                "config": {"url": "https://x.example"},
                "details": {"signing_secret": "env:SIGNING"},
            }
        ),
    )
    done = client.jobs.deploy()
    assert done.added == ("job late", "dependency job report → late")
    assert done.removed == ("dependency job load → double",)
    assert done.altered == ("job report: python → http",)


def test_settings_are_no_part_of_the_graph_and_act_without_deployment(tmp_path: Path) -> None:
    client = deployed_world(tmp_path)
    revise(client, REPORT.model_copy(update={"config": {**REPORT.config, "priority": "7"}}))
    assert not client.jobs.deploy_plan().changed
    task = client.jobs.task(client.jobs.trigger("report", "tests").task_id)
    assert task.priority == 7


def test_arrows_between_jobs_act_when_they_are_deployed(tmp_path: Path) -> None:
    client = deployed_world(tmp_path)
    revise(client, DOUBLE.model_copy(update={"config": {"after": "report"}}))
    assert client.jobs.job("double").controls.after == ("load",)
    client.jobs.deploy()
    assert client.jobs.job("double").controls.after == ("report",)


def test_going_back_withdraws_what_waits(tmp_path: Path) -> None:
    client = deployed_world(tmp_path)
    old = client.jobs.trigger("report", "tests")
    before, after = newer(client)
    waiting = client.jobs.trigger("late", "tests")
    done = client.jobs.deploy("it was wrong", to=before)
    assert (done.dag_version_id, done.canceled) == (before, (waiting.task_id,))
    assert done.removed == ("job late", "dependency job report → late")
    last = client.jobs.task(waiting.task_id).last
    assert last is not None
    assert (last.to_state, last.code) == (TaskState.CANCELED, "LG-3331")
    assert client.jobs.task(old.task_id).state is TaskState.QUEUED
    assert client.jobs.trigger("late", "tests").code == "LG-3323"
    assert [v.dag_version_id for v in client.jobs.dag_versions() if v.active] == [before]
    assert client.jobs.deploy().dag_version_id == after  # what is defined has not changed


def test_a_report_of_a_graph_that_was_left_comes_too_late(tmp_path: Path) -> None:
    client = deployed_world(tmp_path)
    before, _ = newer(client)
    running = client.jobs.trigger("late", "tests")
    (claimed,) = client.dispatch.claim(this_process("test"))
    done = client.jobs.deploy(to=before)
    assert done.canceled == (running.task_id,)
    with pytest.raises(Fenced):
        client.dispatch.report(claimed.ticket, TaskReport(success=True))
    assert client.jobs.task(running.task_id).state is TaskState.CANCELED


@pytest.mark.parametrize(("moving", "refused"), [(False, Fenced), (True, BaseChanged)])
def test_a_build_of_a_graph_that_was_left_cannot_become_current(
    tmp_path: Path, moving: bool, refused: type[Exception]
) -> None:
    """Also one whose move has begun: it is fenced on the table itself."""
    client = deployed_world(tmp_path)
    run_by_hand(client, [1])
    before, _ = newer(client)
    task = client.jobs.trigger("load", "tests").task_id
    plan = client.runs.open_run(task, this_process("test"))
    assert isinstance(plan, RunPlan)
    lake = DeltaLake()
    client.runs.submit_schema(plan.ticket, plan.declared)
    client.runs.submit_evidence(plan.ticket, evidence_of(lake, plan, [2]))
    intent = client.runs.begin_move(plan.ticket) if moving else None
    assert client.jobs.deploy(to=before).canceled == (task,)
    with pytest.raises(refused):
        lake.publish(intent or client.runs.begin_move(plan.ticket))
    assert [version.version for version in client.reader.versions(NUMBERS)] == [1]
    assert client.jobs.task(task).state is TaskState.CANCELED


@pytest.fixture
def dead_deployments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever deploys dies as soon as the graph is active, and nobody ends what runs."""
    monkeypatch.setattr(
        "lakeguard.scheduler.graph.deploy.cancel_superseded", lambda _: Superseded()
    )


@pytest.mark.usefixtures("dead_deployments")
def test_a_report_comes_too_late_as_soon_as_the_graph_is_left(tmp_path: Path) -> None:
    """A failure is taken: it makes nothing current."""
    client = deployed_world(tmp_path)
    old = client.jobs.trigger("report", "tests")
    before, after = newer(client)
    late = client.jobs.trigger("late", "tests")
    claimed = client.dispatch.claim(this_process("test"), limit=2)
    ticket = {each.ticket.task_id: each.ticket for each in claimed}
    client.jobs.deploy(to=before)
    done = TaskReport(success=True)
    answers = client.dispatch.report_all(
        [(ticket[late.task_id], done), (ticket[old.task_id], done)]
    )
    assert isinstance(answers[0], Failure)
    assert (answers[0].code, after in answers[0].message) == ("LG-3331", False)
    assert isinstance(answers[1], TaskAnswer)
    assert client.jobs.task(late.task_id).state is TaskState.RUNNING
    failed = TaskReport(success=False, error=answers[0])
    assert client.dispatch.report(ticket[late.task_id], failed).state is TaskState.FAILED


@pytest.mark.usefixtures("dead_deployments")
def test_a_single_report_comes_too_late_too(tmp_path: Path) -> None:
    client = deployed_world(tmp_path)
    before, _ = newer(client)
    late = client.jobs.trigger("late", "tests")
    (claimed,) = client.dispatch.claim(this_process("test"))
    assert claimed.ticket.task_id == late.task_id
    client.jobs.deploy(to=before)
    with pytest.raises(GraphRolledBack):
        client.dispatch.report(claimed.ticket, TaskReport(success=True))
    assert client.jobs.task(late.task_id).state is TaskState.RUNNING


@pytest.mark.usefixtures("dead_deployments")
def test_a_build_takes_no_number_as_soon_as_the_graph_is_left(tmp_path: Path) -> None:
    client = deployed_world(tmp_path)
    run_by_hand(client, [1])
    before, _ = newer(client)
    plan = client.runs.open_run(client.jobs.trigger("load", "tests").task_id, this_process("test"))
    assert isinstance(plan, RunPlan)
    client.runs.submit_schema(plan.ticket, plan.declared)
    client.runs.submit_evidence(plan.ticket, evidence_of(DeltaLake(), plan, [2]))
    client.jobs.deploy(to=before)
    with pytest.raises(GraphRolledBack):
        client.runs.begin_move(plan.ticket)
    client.jobs.deploy()  # what is defined is the newer graph
    assert client.runs.begin_move(plan.ticket).seq == 2


def test_work_of_a_graph_that_was_left_is_not_tried_again(tmp_path: Path) -> None:
    """Nor is what was refused because the active graph does not know its job."""
    client = deployed_world(tmp_path)
    before, _ = newer(client)
    known, unknown = (client.jobs.trigger(name, "tests").task_id for name in ("report", "late"))
    client.jobs.deploy(to=before)
    refused = client.jobs.trigger("late", "tests").task_id
    for task in (known, unknown):
        with pytest.raises(NotRetryable, match="the graph was rolled back to"):
            client.jobs.retry(task)
    with pytest.raises(NotRetryable, match="late is not in the active graph"):
        client.jobs.retry(refused)
    assert client.dispatch.claim(this_process("test"), limit=3) == ()
    client.jobs.deploy()
    for task in (known, unknown, refused):
        assert client.jobs.retry(task).state is TaskState.QUEUED


def test_a_turn_of_the_dispatcher_ends_what_a_dead_deployment_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = deployed_world(tmp_path)
    before, _ = newer(client)
    running = client.jobs.trigger("late", "tests")
    client.dispatch.claim(this_process("test"))
    with monkeypatch.context() as patched:
        patched.setattr(
            "lakeguard.scheduler.graph.deploy.cancel_superseded", lambda _: Superseded()
        )
        assert client.jobs.deploy(to=before).canceled == ()
    assert client.jobs.task(running.task_id).state is TaskState.RUNNING
    assert client.jobs.tick().reaped == 1
    last = client.jobs.transitions(running.task_id)[-1]
    assert (last.to_state, last.actor) == (TaskState.CANCELED, "dispatcher:graphs")


def test_without_a_newer_version_no_task_is_looked_at(tmp_path: Path) -> None:
    client = deployed_world(tmp_path)
    newer(client)
    client.jobs.trigger("late", "tests")
    assert isinstance(client.jobs, EmbeddedJobs)
    context = client.jobs.context
    given: list[str] = []
    event.listen(context.database.engine, "before_cursor_execute", lambda *a: given.append(a[2]))
    assert cancel_superseded(context) == Superseded()
    assert any("dag_activations" in each for each in given)
    assert [each for each in given if "tasks" in each] == []


def test_a_version_is_found_by_the_beginning_of_its_hash(tmp_path: Path) -> None:
    client = deployed_world(tmp_path)
    first = client.jobs.dag_versions()[0]
    _, after = newer(client)
    short = first.dag_hash.removeprefix("sha256:")[:8]
    assert client.jobs.deploy_plan(short).removed == ("job late", "dependency job report → late")
    assert client.jobs.deploy(to=short).dag_version_id == first.dag_version_id
    with pytest.raises(UnknownGraph, match="unknown graph version dag_none"):
        client.jobs.deploy(to="dag_none")
    for unknown in (short[:7], f"sha256:{short[:7]}", after[:10], ""):
        with pytest.raises(UnknownGraph, match="whole id, or 8 characters of a hash") as refused:
            client.jobs.deploy(to=unknown)
        assert f"{first.dag_version_id} ({first.dag_hash[7:19]})" in str(refused.value)


def test_a_beginning_that_two_versions_share_names_both(tmp_path: Path) -> None:
    client = deployed_world(tmp_path)
    (version,) = client.jobs.dag_versions()
    other = {"dag_version_id": "dag_twin", "content_hash": version.dag_hash[:-4] + "twin"}
    with state_of(tmp_path).write("default") as connection:
        (row,) = connection.execute(select(dag_versions)).all()
        connection.execute(insert(dag_versions).values({**row._mapping, **other}))
    with pytest.raises(UnknownGraph) as refused:
        client.jobs.deploy(to=version.dag_hash[:20])
    assert {version.dag_version_id, "dag_twin"} <= set(str(refused.value).split())
    assert client.jobs.deploy_plan(version.dag_hash).dag_version_id == version.dag_version_id
    assert client.jobs.deploy_plan("dag_twin").dag_version_id == "dag_twin"


def test_a_reason_with_a_secret_deploys_nothing(tmp_path: Path) -> None:
    client = make_project(tmp_path, world())
    with pytest.raises(SecretInReason):
        client.jobs.deploy("AKIAIOSFODNN7EXAMPLE")
    assert client.jobs.dag_versions() == []


def test_of_many_deployments_at_once_one_counts(tmp_path: Path) -> None:
    make_project(tmp_path, world(jobs=(LOAD, DOUBLE, REPORT)))
    clients = [connect(tmp_path) for _ in range(4)]
    with ThreadPoolExecutor(len(clients)) as pool:
        done = list(pool.map(lambda client: client.jobs.deploy("race"), clients))
    assert sum(each.changed for each in done) == 1
    assert len({each.dag_version_id for each in done}) == 1
    assert activations(tmp_path) == 1

"""Gates before a launch: each refuses by name, with its code, and what it said stays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from lakeguard.state.schema import md_job_execution
from lakeguard_sdk import Client
from lakeguard_sdk.core.enums import (
    Enforcement,
    Layer,
    PolicyType,
    TaskState,
)
from lakeguard_sdk.errors import NotRetryable
from lakeguard_sdk.model.definitions import PolicyDefinition, SourceMapping
from lakeguard_sdk.model.run import Failure, RunPlan
from lakeguard_sdk.scheduling.jobs import Launch
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.scheduling.tasks import TaskReport
from lakeguard_sdk.types.schema import Column, TableSchema
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.job_graphs import (
    DOUBLE,
    LOAD,
    REPORT,
    deployed_world,
    doubles,
    job,
    numbers,
    revise,
    source,
    target,
    world,
)
from tests.support.projects.jobs import state_of
from tests.support.projects.planes import NUMBERS, Clock
from tests.support.projects.projects import make_project

pytestmark = pytest.mark.usefixtures("each_state")

FREEZE = PolicyDefinition(
    policy="holidays",
    type=PolicyType.CHANGE_FREEZE,
    expression="freeze 2026-01-01..2026-01-02",
    applies_to_layer=Layer.BRONZE,
)
FRESH = PolicyDefinition(policy="fresh", type=PolicyType.SLA, expression="freshness <= 1h")


def start(client: Client, name: str = "load") -> Launch:
    return client.jobs.trigger(name, "tests")


def opened(client: Client) -> RunPlan:
    plan = client.runs.open_run(client.operations.submit(NUMBERS, "test"), this_process("test"))
    assert isinstance(plan, RunPlan)
    return plan


def fail(client: Client) -> None:
    failure = Failure(code="LG-5004", message="the source is broken")
    client.runs.fail_run(opened(client).ticket, failure)


def block_by_schema(client: Client) -> None:
    plan = opened(client)
    live = TableSchema(columns=(Column(name="n", type="string"),))
    assert not client.runs.submit_schema(plan.ticket, live).accepted


Change = Callable[[Client], object]

OFF: dict[str, tuple[Change, str, str]] = {
    "inactive job": (
        lambda client: revise(client, LOAD.model_copy(update={"active": False})),
        "LG-3321",
        "job load is disabled (active: false)",
    ),
    "job that its own setting switches off": (
        lambda client: revise(
            client, LOAD.model_copy(update={"config": {"status#ActiveConfig": "DISABLED"}})
        ),
        "LG-3321",
        "job load is disabled (active: false)",
    ),
    "job that an operator switched off": (
        lambda client: client.jobs.switch("load", enabled=False, reason="night"),
        "LG-3321",
        "job load is switched off",
    ),
    "dataset": (
        lambda client: revise(client, numbers(active=False)),
        "LG-3322",
        "dataset bronze.numbers is disabled (active: false)",
    ),
    "source": (
        lambda client: revise(client, source(active=False)),
        "LG-3322",
        "source numbers is disabled (active: false)",
    ),
    "target": (
        lambda client: revise(client, target(active=False)),
        "LG-3322",
        "target lake is disabled (active: false)",
    ),
    "mapping": (
        lambda client: revise(
            client, target(sources=(SourceMapping(source="numbers", active=False),))
        ),
        "LG-3322",
        "the mapping numbers → lake is disabled",
    ),
}


def test_what_is_disabled_refuses_the_start_by_name(tmp_path: Path) -> None:
    client = deployed_world(tmp_path)
    for off, (change, code, given) in OFF.items():
        assert start(client).state is TaskState.QUEUED, off
        change(client)
        refused = start(client)
        assert (refused.state, refused.code, refused.reason) == (TaskState.BLOCKED, code, given), (
            off
        )
        revise(client, LOAD, numbers(), source(), target())
        client.jobs.switch("load", enabled=True)


def test_a_refusal_stays_with_its_task_and_is_an_execution_that_failed(tmp_path: Path) -> None:
    client = deployed_world(tmp_path)
    client.jobs.switch("report", enabled=False)
    refused = client.jobs.trigger("report", "tests", key="one")
    (reported,) = client.jobs.transitions(refused.task_id)
    assert (reported.from_state, reported.to_state, reported.attempt) == (
        None,
        TaskState.BLOCKED,
        0,
    )
    assert (reported.code, reported.message) == ("LG-3321", "job report is switched off")
    with state_of(tmp_path).read() as connection:
        (row,) = connection.execute(select(md_job_execution)).all()
    assert (row.status, row.error_code) == ("FAILED", "LG-3321")
    assert row.job_id == client.jobs.job("report").job_id
    again = client.jobs.trigger("report", "tests", key="one")
    assert (again.new, again.task_id, again.code) == (False, refused.task_id, "LG-3321")


def test_before_any_deployment_nothing_starts(tmp_path: Path) -> None:
    client = make_project(tmp_path, world())
    refused = start(client)
    assert refused.code == "LG-3323"
    assert refused.reason == "no graph is deployed yet; first: lakeguard deploy"


def test_only_jobs_of_the_active_graph_start(tmp_path: Path) -> None:
    client = deployed_world(tmp_path)
    revise(client, job("late", type="python", config={"call": "jobs.late:main"}))
    assert start(client, "late").reason == "job late is not in the active graph"
    client.jobs.deploy()
    assert start(client, "late").state is TaskState.QUEUED
    outside = {"type": "http", "config": {"url": "https://x.example"}}
    signed = {"details": {"signing_secret": "env:KEY"}}
    revise(client, REPORT.model_copy(update={**outside, **signed}))
    assert "not what the active graph knows" in start(client, "report").reason


def test_nothing_here_runs_jobs_of_other_types(tmp_path: Path) -> None:
    client = deployed_world(tmp_path)
    refused = start(client, "shell")
    assert (refused.code, refused.reason) == ("LG-3330", "nothing here runs jobs of type shell")
    assert refused.task_id == ""
    assert client.jobs.tasks() == []


def test_a_parent_without_a_version(tmp_path: Path) -> None:
    client = deployed_world(tmp_path)
    refused = start(client, "double")
    assert refused.code == "LG-3325"
    assert refused.reason == (
        "parent bronze.numbers has no published version; first: lakeguard run bronze.numbers"
    )
    run_by_hand(client, [1])
    assert start(client, "double").state is TaskState.QUEUED


def test_a_parent_whose_last_run_failed(tmp_path: Path) -> None:
    client = deployed_world(tmp_path)
    run_by_hand(client, [1])
    fail(client)
    refused = start(client, "double")
    assert refused.code == "LG-3324"
    assert refused.reason.startswith("the last run of parent bronze.numbers failed: run_")
    assert start(client).state is TaskState.QUEUED  # its own failure holds no job back
    run_by_hand(client, [2])
    assert start(client, "double").state is TaskState.QUEUED


def test_a_breaking_change_of_schema_waits(tmp_path: Path) -> None:
    client = deployed_world(tmp_path)
    run_by_hand(client, [1])
    block_by_schema(client)
    for name in ("load", "double"):
        refused = start(client, name)
        assert refused.code == "LG-3326", name
        assert "a change of the schema of bronze.numbers waits since run run_" in refused.reason
    revise(client, numbers(description="looked at"))
    assert start(client).state is TaskState.QUEUED
    assert start(client, "double").code == "LG-3324"  # its last run is blocked all the same


def test_a_freeze(tmp_path: Path, turned_clock: Clock) -> None:
    client = deployed_world(tmp_path, policies=(FREEZE,))
    refused = start(client)
    assert refused.code == "LG-3327"
    assert refused.reason.startswith("policy holidays: bronze.numbers is frozen at 2026-01-01")
    assert start(client, "report").state is TaskState.QUEUED  # it changes no table
    turned_clock.pass_time(2 * 86_400)
    assert start(client).state is TaskState.QUEUED


@pytest.mark.parametrize("changed", [{"enforcement": Enforcement.ALERT}, {"active": False}])
def test_a_freeze_that_does_not_block(
    tmp_path: Path, turned_clock: Clock, changed: dict[str, Any]
) -> None:
    client = deployed_world(tmp_path, policies=(FREEZE.model_copy(update=changed),))
    assert start(client).state is TaskState.QUEUED


@pytest.mark.parametrize("layer", [Layer.BRONZE, Layer.SILVER])
def test_a_parent_that_is_late(tmp_path: Path, turned_clock: Clock, layer: Layer) -> None:
    """Of what is promised of the parent, or of what may be built from it."""
    policy = FRESH.model_copy(update={"applies_to_layer": layer})
    client = deployed_world(tmp_path, policies=(policy,))
    run_by_hand(client, [1])
    assert start(client, "double").state is TaskState.QUEUED
    turned_clock.pass_time(2 * 3600)
    refused = start(client, "double")
    assert refused.code == "LG-3328"
    assert refused.reason.startswith("policy fresh: parent bronze.numbers last promoted 2 h")
    warned = policy.model_copy(update={"enforcement": Enforcement.ALERT})
    revise(client, warned)
    assert start(client, "double").state is TaskState.QUEUED


def test_a_policy_over_a_tag_that_came_down(tmp_path: Path, turned_clock: Clock) -> None:
    tagged = numbers(columns=(numbers().columns[0].model_copy(update={"tags": ("money",)}),))
    freeze = FREEZE.model_copy(update={"applies_to_layer": Layer.SILVER, "applies_to_tag": "money"})
    client = deployed_world(tmp_path, datasets=(tagged, doubles()), policies=(freeze,))
    turned_clock.pass_time(-86_400)
    run_by_hand(client, [1])
    turned_clock.pass_time(86_400)
    assert start(client, "double").code == "LG-3327"


def test_a_job_that_is_not_to_overlap(tmp_path: Path) -> None:
    alone = REPORT.model_copy(update={"config": {**REPORT.config, "overlap": "skip"}})
    client = deployed_world(tmp_path, jobs=(LOAD, DOUBLE, alone))
    first = start(client, "report")
    refused = start(client, "report")
    assert (first.state, refused.state) == (TaskState.QUEUED, TaskState.BLOCKED)
    assert (refused.code, refused.reason) == (
        "LG-3329",
        "job report is still under way, and overlap is skip",
    )
    with pytest.raises(NotRetryable, match="overlap is skip"):
        client.jobs.retry(refused.task_id)
    client.jobs.cancel(first.task_id)
    assert client.jobs.retry(refused.task_id).state is TaskState.QUEUED
    assert start(client, "report").code == "LG-3329"


def test_a_job_that_is_not_to_overlap_does_not_wait_for_itself(tmp_path: Path) -> None:
    """Who waits for the next attempt may have it at once."""
    alone = REPORT.model_copy(update={"config": {**REPORT.config, "overlap": "skip"}})
    client = deployed_world(tmp_path, jobs=(alone,))
    task = start(client, "report").task_id
    (claimed,) = client.dispatch.claim(this_process("test"))
    broken = Failure(code="BROKEN", message="it broke", retryable=True)
    client.dispatch.report(claimed.ticket, TaskReport(success=False, error=broken))
    assert client.jobs.task(task).due_at is not None
    assert client.jobs.retry(task).state is TaskState.QUEUED


def test_a_build_by_hand_is_refused_by_the_switch_too(tmp_path: Path) -> None:
    client = deployed_world(tmp_path)
    client.jobs.switch("load", enabled=False)
    result = client.runs.open_run(client.operations.submit(NUMBERS, "test"), this_process("test"))
    assert not isinstance(result, RunPlan)
    assert result.decision is not None
    assert result.decision.ruling.reasons == (
        "job: job load is switched off; on again: lakeguard jobs enable load",
    )


def test_the_ledger_knows_of_switches_and_graphs(tmp_path: Path) -> None:
    """A switch makes ``md_jobs`` anew; the lake and the State agree on all of it."""
    client = deployed_world(tmp_path)
    client.ledger.sync()
    client.jobs.switch("report", enabled=False, reason="night")
    start(client, "report")
    client.ledger.sync()
    report = client.ledger.verify()
    assert report.findings == ()

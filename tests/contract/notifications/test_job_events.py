"""What jobs, tasks, graphs and invalidations tell others, on each kind of State."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lakeguard_sdk import Client, connect
from lakeguard_sdk.model.notifications import EventKind
from lakeguard_sdk.model.row_ranges import RowRange
from lakeguard_sdk.model.run import Failure, Window
from lakeguard_sdk.scheduling.invalidations import Reason
from lakeguard_sdk.scheduling.tasks import TaskReport
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.alert_channels import lines_of
from tests.support.projects.event_channels import drained, file_listener
from tests.support.projects.jobs import (
    DONE,
    JOB,
    claim_one,
    job_project,
    python_job,
    trigger,
)
from tests.support.projects.planes import NUMBERS

pytestmark = pytest.mark.usefixtures("each_state")

BUSY = Failure(code="BUSY", message="value 17 of row 3", retryable=True)
FAILED = TaskReport(success=False, error=BUSY)


def listened(folder: Path, **config: str) -> Client:
    job_project(folder, python_job(**config))
    settings = folder / "lakeguard.toml"
    settings.write_text(settings.read_text() + file_listener())
    return connect(folder)


def sent_events(client: Client, folder: Path) -> list[dict[str, Any]]:
    drained(client)
    return lines_of(folder / "events.jsonl")


def short(events: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(each["type"].removeprefix("lakeguard."), each["data"]["state"]) for each in events]


def test_an_execution_is_told_from_start_to_end(tmp_path: Path) -> None:
    client = listened(tmp_path)
    task = trigger(client, "a")
    claimed = claim_one(client)
    client.dispatch.report(claimed.ticket, DONE)
    events = sent_events(client, tmp_path)
    assert short(events) == [("job.started", "running"), ("job.ended", "completed")]
    assert {each["subject"] for each in events} == {f"job/{JOB}"}
    assert {each["data"]["task_id"] for each in events} == {task}


def test_a_task_that_dies_is_told_and_nothing_its_job_said(tmp_path: Path) -> None:
    client = listened(tmp_path, attempts="1")
    trigger(client, "a")
    client.dispatch.report(claim_one(client).ticket, FAILED)
    events = sent_events(client, tmp_path)
    assert sorted(short(events)[1:]) == [("job.ended", "dead"), ("task.dead", "dead")]
    assert {each["data"].get("code") for each in events[1:]} == {"BUSY"}
    assert "value 17" not in (tmp_path / "events.jsonl").read_text()


def test_a_refused_start_is_told_with_its_reason(tmp_path: Path) -> None:
    client = listened(tmp_path)
    client.jobs.switch(JOB, enabled=False, reason="broken")
    launched = client.jobs.trigger(JOB, "tests", key="a")
    (event,) = sent_events(client, tmp_path)
    assert event["type"] == "lakeguard.job.refused"
    assert (event["data"]["code"], event["data"]["reason"]) == (launched.code, launched.reason)


def test_what_was_canceled_before_it_began_is_told(tmp_path: Path) -> None:
    client = listened(tmp_path)
    client.jobs.cancel(trigger(client, "a"))
    assert short(sent_events(client, tmp_path)) == [("job.ended", "canceled")]


def test_a_retry_tells_of_each_attempt_under_an_id_of_its_own(tmp_path: Path) -> None:
    client = listened(tmp_path)
    task = trigger(client, "a")
    client.dispatch.report(claim_one(client).ticket, FAILED)
    client.jobs.retry(task)
    client.dispatch.report(claim_one(client).ticket, DONE)
    events = sent_events(client, tmp_path)
    assert short(events) == [
        ("job.started", "running"), ("job.ended", "failed"),
        ("job.started", "running"), ("job.ended", "completed"),
    ]  # fmt: skip
    assert len({each["id"] for each in events}) == 4
    assert [each["data"]["attempt"] for each in events] == [1, 1, 2, 2]


def test_graphs_and_invalidations_are_told(tmp_path: Path) -> None:
    client = listened(tmp_path)
    definitions = client.registry.definitions()
    jobs = (*definitions.jobs, python_job("weekly"))
    client.registry.apply(client.registry.plan(definitions.model_copy(update={"jobs": jobs})))
    deployed = client.jobs.deploy("more")
    run_by_hand(client, [1])
    part = RowRange(window=Window(column="n", start="1", end="9"))
    made = client.operations.invalidate(NUMBERS, part, Reason.MANUAL, "a correction")
    client.operations.withdraw_invalidation(made.invalidation_id, "it was none")
    events = sent_events(client, tmp_path)
    kinds = (EventKind.GRAPH_DEPLOYED, EventKind.INVALIDATION_OPENED, EventKind.INVALIDATION_DONE)
    chosen = [each for each in events if each["type"].removeprefix("lakeguard.") in kinds]
    assert [each["type"] for each in chosen] == [f"lakeguard.{kind}" for kind in kinds]
    graph, opened, done = chosen
    assert graph["data"]["dag_version_id"] == deployed.dag_version_id
    assert opened["subject"] == done["subject"] == f"invalidation/{made.invalidation_id}"
    assert "correction" not in str(opened), "what a person wrote stays in the ledger"


def test_a_turn_of_the_dispatcher_tells_what_is_due(tmp_path: Path) -> None:
    client = listened(tmp_path)
    client.jobs.cancel(trigger(client, "a"))
    assert client.jobs.tick().notified == 1
    assert client.jobs.tick().notified == 0
    assert len(lines_of(tmp_path / "events.jsonl")) == 1

"""What is shown of jobs and graphs, and that no more is read for it than was asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from lakeguard.dispatch.assign import assigned_jobs
from lakeguard.ledger.switches import switched_off
from lakeguard.promotion.context import PlaneContext
from lakeguard.services.ports.jobs import EmbeddedJobs
from lakeguard_sdk import Client
from lakeguard_sdk.core.enums import TaskState
from tests.support.projects.job_graphs import deployed_world, job, revise
from tests.support.projects.planes import Clock

pytestmark = pytest.mark.usefixtures("each_state")


def context_of(client: Client) -> PlaneContext:
    assert isinstance(client.jobs, EmbeddedJobs)
    return client.jobs.context


@contextmanager
def sent(client: Client) -> Iterator[list[tuple[str, str]]]:
    """Every statement of the block with its values."""
    found: list[tuple[str, str]] = []
    engine = context_of(client).database.engine

    def note(_connection: Any, _cursor: Any, text: str, values: Any, *_rest: Any) -> None:
        found.append((text, str(values)))

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield found
    finally:
        event.remove(engine, "before_cursor_execute", note)


def about(found: list[tuple[str, str]], table: str) -> list[str]:
    """The values of what was asked of a table."""
    return [values for text, values in found if table in text]


def test_one_job_is_shown_without_a_look_at_the_tasks_of_others(tmp_path: Path) -> None:
    client = deployed_world(tmp_path)
    for name in ("report", "load"):
        client.jobs.trigger(name, "tests")
    job_id = client.jobs.job("report").job_id
    with sent(client) as found:
        shown = client.jobs.job("report")
    assert shown.last_state is TaskState.QUEUED
    for table in ("task_transitions", "job_schedules", "job_switches"):
        asked = about(found, table)
        assert asked, table
        assert [values for values in asked if job_id not in values] == []


def test_the_newest_task_is_the_first_that_is_listed(tmp_path: Path, turned_clock: Clock) -> None:
    """By the State's clock: ids are made by that of each process."""
    client = deployed_world(tmp_path)
    last = client.jobs.trigger("report", "tests", key="a").task_id
    client.jobs.cancel(last)
    turned_clock.pass_time(-3600)
    client.jobs.trigger("report", "tests", key="b")
    client.jobs.trigger("load", "tests")
    assert client.jobs.tasks(job="report")[0].task_id == last
    assert client.jobs.job("report").last_state is TaskState.CANCELED
    states = {row.job: row.last_state for row in client.jobs.jobs()}
    assert (states["report"], states["load"], states["double"]) == (
        TaskState.CANCELED,
        TaskState.QUEUED,
        None,
    )


def test_of_tasks_of_one_moment_the_first_that_is_listed_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = Clock()()
    monkeypatch.setattr("lakeguard.plane._clock", lambda _: lambda: moment)
    client = deployed_world(tmp_path)
    for key in ("a", "b", "c"):
        client.jobs.trigger("report", "tests", key=key)
    first, *others = client.jobs.tasks(job="report")
    for task in others:
        client.jobs.cancel(task.task_id)
    assert client.jobs.job("report").last_state is TaskState.QUEUED
    client.jobs.cancel(first.task_id)
    client.jobs.retry(others[0].task_id)
    assert client.jobs.job("report").last_state is TaskState.CANCELED


def test_switches_are_read_of_the_jobs_that_are_asked_for(tmp_path: Path) -> None:
    client = deployed_world(tmp_path)
    for name in ("report", "load", "double"):
        client.jobs.switch(name, enabled=False)
    client.jobs.switch("double", enabled=True)
    ids = {row.job: row.job_id for row in client.jobs.jobs()}
    context = context_of(client)
    with context.read() as tx:
        asked = {ids["report"], ids["double"]}
        assert switched_off(tx, asked) == {ids["report"]}
        assert switched_off(tx, ()) == set()
        assert switched_off(tx) == {ids["report"], ids["load"]}
        with sent(client) as found:
            (assigned,) = assigned_jobs(tx, [ids["report"]]).values()
    assert not assigned.on
    assert [ids["report"] in values for values in about(found, "job_switches")] == [True]


def test_the_last_switch_of_a_job_is_shown_with_who_when_and_why(tmp_path: Path) -> None:
    client = deployed_world(tmp_path)
    client.jobs.switch("report", enabled=False, reason="the shop moves house")
    off = client.jobs.job("report").switched
    assert off is not None
    assert (off.enabled, off.by, off.reason) == (
        False,
        context_of(client).actor,
        "the shop moves house",
    )
    client.jobs.switch("report", enabled=True)
    client.jobs.switch("load", enabled=False, reason="later")
    shown = {row.job: row.switched for row in client.jobs.jobs()}
    on = shown["report"]
    assert on is not None
    assert (on.enabled, on.reason, on.at >= off.at) == (True, "", True)
    assert shown["double"] is None
    assert shown["load"] == client.jobs.job("load").switched


def test_of_a_version_that_is_named_no_other_is_read(tmp_path: Path) -> None:
    client = deployed_world(tmp_path)
    for number in range(3):
        revise(client, job(f"more{number}", type="python", config={"call": "jobs:main"}))
        client.jobs.deploy()
    newest, *_, oldest = client.jobs.dag_versions()
    assert (newest.jobs, oldest.jobs) == (7, 4)
    for given in (oldest.dag_version_id, oldest.dag_hash, oldest.dag_hash[7:19]):
        with sent(client) as found:
            planned = client.jobs.deploy_plan(given)
        assert planned.removed == ("job more0", "job more1", "job more2")
        bodies = [values for text, values in found if "dag_versions.body" in text]
        named = (newest.dag_version_id, oldest.dag_version_id)
        assert [values for values in bodies if not any(each in values for each in named)] == []


def test_so_many_versions_are_listed_as_are_asked_for(tmp_path: Path) -> None:
    client = deployed_world(tmp_path)
    for number in range(3):
        revise(client, job(f"more{number}", type="python", config={"call": "jobs:main"}))
        client.jobs.deploy()
    every = client.jobs.dag_versions()
    assert len(every) == 4
    assert client.jobs.dag_versions(limit=2) == every[:2]
    client.jobs.deploy(to=every[3].dag_version_id)
    again = client.jobs.dag_versions(limit=4)
    assert [each.dag_version_id for each in again] == [each.dag_version_id for each in every]
    assert [each.active for each in again] == [False, False, False, True]

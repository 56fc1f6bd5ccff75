"""Tasks as they are told: why each was started and with what, and no secret among it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from lakeguard.promotion.context import PlaneContext
from lakeguard.scheduler.launch.launch import launch
from lakeguard.scheduler.launch.requests import Cause, CauseKind, LaunchRequest
from lakeguard.services.ports.dispatch import EmbeddedDispatch
from lakeguard.services.ports.jobs import EmbeddedJobs
from lakeguard.state.database import Database
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.errors import UnknownRun, UnknownTask
from lakeguard_sdk.model.run import Window
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.scheduling.tasks import TaskRow
from tests.support.projects.job_graphs import (
    LOAD,
    REPORT,
    deployed_heart,
    world,
)

TOKEN = "ghp_" + "aB3dE6gH9jK2" * 3


@pytest.fixture
def context(database: Database, tmp_path: Path) -> PlaneContext:
    return deployed_heart(database, tmp_path, world(jobs=(LOAD, REPORT)))


def recorded_task(context: PlaneContext, **given: Any) -> TaskRow:
    jobs = EmbeddedJobs(context)
    job_id = jobs.job("report").job_id
    usual = {"job_id": job_id, "key": "one", "actor": "trigger:event"}
    with context.write() as tx:
        (done,) = launch(tx, context, [LaunchRequest(**{**usual, **given})])
    return jobs.task(done.task_id)


def test_a_task_tells_why_it_was_started_and_with_what(context: PlaneContext) -> None:
    jobs = EmbeddedJobs(context)
    day, given = date(2026, 1, 31), {"region": "north", "password": "env:SHOP_PASSWORD"}
    row = jobs.task(jobs.trigger("report", "cli:ada", day=day, set_to=given).task_id)
    assert row.cause == Cause(kind=CauseKind.MANUAL, details={"by": "cli:ada"})
    assert (row.day, row.parameters) == (day, given)
    assert row.dag_version_id == jobs.dag_versions()[0].dag_version_id
    assert [row] == jobs.tasks()
    assert TaskRow.from_json(row.to_json()) == row


def test_a_window_is_told(context: PlaneContext) -> None:
    window = Window(column="n", start="1", end="2")
    cause = Cause(kind=CauseKind.INVALIDATION, details={"invalidations": ["inv_1"]})
    row = recorded_task(context, cause=cause, window=window)
    assert (row.cause, row.window, row.day, row.parameters) == (cause, window, None, {})


def test_what_may_be_a_secret_is_not_told(context: PlaneContext) -> None:
    """What others wrote was looked at when it came; what was kept before that is masked."""
    given = {"event.note": TOKEN, "event.token": "short", "event.path": "in/Orders_20260131T06.csv"}
    details = {"source": "shop", "id": TOKEN, "type": "order"}
    row = recorded_task(
        context, cause=Cause(kind=CauseKind.EVENT, details=details), parameters=given
    )
    assert row.parameters == {
        "event.note": "********",
        "event.token": "********",
        "event.path": "in/Orders_20260131T06.csv",
    }
    assert row.cause is not None
    assert row.cause.details == {"source": "shop", "id": "********", "type": "order"}


def test_a_task_is_found_by_any_of_its_runs(context: PlaneContext) -> None:
    jobs = EmbeddedJobs(context)
    task_id = jobs.trigger("report", "cli:ada").task_id
    (first,) = EmbeddedDispatch(context).claim(this_process("test"))
    jobs.cancel(task_id)
    jobs.retry(task_id)
    (second,) = EmbeddedDispatch(context).claim(this_process("test"))
    for attempt in (first, second):
        row = jobs.task(attempt.ticket.run_id)
        assert (row.task_id, row.run_id) == (task_id, second.ticket.run_id)
        assert jobs.transitions(attempt.ticket.run_id)[-1].to_state is TaskState.RUNNING
    theirs = EmbeddedJobs(replace(context, org_id="other"))
    with pytest.raises(UnknownRun):
        theirs.task(first.ticket.run_id)
    with pytest.raises(UnknownTask):
        theirs.task(task_id)

"""``runs`` shows executions of Python and HTTP jobs beside builds, and one of either."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lakeguard_sdk import Client
from lakeguard_sdk.core.enums import RunStatus, TaskKind
from lakeguard_sdk.errors import UnknownRun
from lakeguard_sdk.model.run import Failure
from lakeguard_sdk.scheduling.tasks import TaskReport
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.jobs import DONE, JOB, claim_one, job_project, trigger
from tests.support.projects.planes import NUMBERS
from tests.support.projects.shell import Shell

pytestmark = pytest.mark.usefixtures("each_state")

BROKEN = TaskReport(success=False, error=Failure(code="LG-5651", message="no", retryable=False))


@pytest.fixture
def client(tmp_path: Path) -> Client:
    """One execution has succeeded, one has failed, and the last one runs."""
    client = job_project(tmp_path)
    for report in (DONE, BROKEN, None):
        trigger(client, str(report)[:40])
        claimed = claim_one(client)
        if report is not None:
            client.dispatch.report(claimed.ticket, report)
    return client


def test_those_that_run_come_first_then_the_newest(client: Client) -> None:
    running, failed, done = client.reader.executions()
    assert (running.status, running.end_time, running.job) == (None, None, JOB)
    assert (failed.status, failed.error_code) == (RunStatus.FAILED, "LG-5651")
    assert (done.status, done.kind, done.attempt) == (RunStatus.SUCCESS, TaskKind.PYTHON, 1)
    assert client.reader.executions(limit=2) == [running, failed]
    assert client.reader.executions(status=RunStatus.SUCCESS) == [done]
    assert client.reader.executions(since=datetime.now(UTC) + timedelta(days=1)) == []
    for each in (running, failed, done):
        assert client.reader.execution(each.run_id) == each
    with pytest.raises(UnknownRun):
        client.reader.execution("run_0")


def test_runs_are_narrowed(client: Client) -> None:
    run_by_hand(client, [1])
    (built,) = client.reader.runs()
    assert client.reader.runs(NUMBERS, status=RunStatus.SUCCESS) == [built]
    assert client.reader.runs(status=RunStatus.BLOCKED) == []
    assert client.reader.runs(since=built.start_time) == [built]
    assert client.reader.runs(since=built.end_time + timedelta(days=1)) == []
    with pytest.raises(UnknownRun):
        client.reader.execution(built.run_id)


def test_the_command_lists_both_and_shows_one(client: Client, shell: Shell, tmp_path: Path) -> None:
    run_by_hand(client, [1])
    here = ("--project", tmp_path)
    listed = shell("runs", *here)
    assert listed.code == 0, listed.err
    assert f"{JOB} (python)" in listed.out
    assert str(NUMBERS) in listed.out
    data = shell("runs", "--status", "failed", *here, "--json").data
    assert [len(data[name]) for name in ("runs", "open_runs", "executions")] == [0, 0, 1]
    running = shell("runs", "--status", "running", *here, "--json").data["executions"]
    assert [each["status"] for each in running] == [None]
    assert JOB not in shell("runs", NUMBERS, *here).out
    assert JOB not in shell("runs", "list", "--dataset", NUMBERS, "--since", "1d", *here).out
    (built,) = client.reader.runs()
    for run_id, next_command in (
        (built.run_id, f"lakeguard why {built.run_id}"),
        (data["executions"][0]["run_id"], "lakeguard tasks show task_"),
    ):
        shown = shell("runs", "show", run_id, *here)
        assert shown.code == 0, shown.err
        assert next_command in shown.out
    assert shell("runs", "show", "run_0", *here).code == 2
    assert shell("runs", NUMBERS, "--dataset", NUMBERS, *here).code == 2

"""Workers that die or fall asleep with a job's process under way: another ends the task, once."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakeguard_sdk import Client, connect
from lakeguard_sdk.core.enums import TaskState
from tests.faults import killed_loop
from tests.faults.test_killed import NEWBORN
from tests.support.projects.assignments import write_job
from tests.support.projects.projects import states_of
from tests.support.projects.worker_jobs import (
    job_project,
    python_job,
    task_of,
    work,
)

NEWBORN.set_forkserver_preload(["tests.faults.killed_process", "tests.faults.killed_loop"])
SETTINGS = """
[env.dev.dispatch]
lease_seconds = 2
heartbeat_seconds = 1
backoff_first_seconds = 1
backoff_longest_seconds = 1
"""
BODY = """
import os, pathlib, time
pathlib.Path(f"pid {job.attempt}").write_text(str(os.getpid()))
while job.attempt == 1 and not pathlib.Path("go").exists():
    time.sleep(0.02)
job.output("report", rows=job.attempt)
"""
PATIENCE_SECONDS = 40.0


@pytest.fixture(autouse=True)
def _on_a_server() -> Iterator[None]:
    with states_of("postgresql"):
        yield


def short_leases(folder: Path) -> tuple[Client, str]:
    """A job whose first attempt waits for ``go``, launched."""
    job_project(folder, python_job(outputs="report"))
    with (folder / "lakeguard.toml").open("a") as settings:
        settings.write(SETTINGS)
    write_job(folder, BODY, "nightly")
    client = connect(folder)
    return client, task_of(client)


def wait_until_over(pid: str) -> None:
    """Nothing of the process runs any more, whether or not anybody has asked how it ended."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while _is_running(pid):
        assert time.monotonic() < deadline, pid
        time.sleep(0.02)


def _is_running(pid: str) -> bool:
    try:
        given = Path("/proc", pid, "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return given.rpartition(")")[2].split()[0] not in ("Z", "X")


def wait_for(place: Path) -> str:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not place.exists() or not place.read_text():
        assert time.monotonic() < deadline, place
        time.sleep(0.02)
    return place.read_text()


def settle(client: Client, task: str) -> None:
    """The dispatcher turns and a worker works until the task is completed."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while client.jobs.task(task).state is not TaskState.COMPLETED:
        assert time.monotonic() < deadline, client.jobs.transitions(task)
        client.jobs.tick()
        work(client)
        time.sleep(0.1)


def ends(client: Client, task: str) -> list[tuple[str, int]]:
    return [(each.to_state.value, each.attempt) for each in client.jobs.transitions(task)]


FIRST = [("queued", 0), ("running", 1)]
SECOND = [("failed", 1), ("queued", 1), ("running", 2), ("completed", 2)]


@pytest.mark.parametrize("point", ["job.started", "job.reporting", "job.reported"])
def test_a_worker_killed_about_its_job(tmp_path: Path, point: str) -> None:
    client, task = short_leases(tmp_path)
    if point != "job.started":
        (tmp_path / "go").touch()
    process = NEWBORN.Process(target=killed_loop.main, args=(str(tmp_path), point))
    process.start()
    process.join(PATIENCE_SECONDS)
    assert process.exitcode == -signal.SIGKILL
    settle(client, task)
    reported = point == "job.reported"
    assert ends(client, task) == FIRST + ([("completed", 1)] if reported else SECOND)
    if (tmp_path / "pid 1").exists() and (pid := (tmp_path / "pid 1").read_text()):
        wait_until_over(pid)  # without its number, it was killed while it wrote that


def test_a_worker_that_slept_past_its_lease_comes_too_late(tmp_path: Path) -> None:
    client, task = short_leases(tmp_path)
    process = NEWBORN.Process(target=killed_loop.main, args=(str(tmp_path), "never"))
    process.start()
    assert process.pid is not None
    child = int(wait_for(tmp_path / "pid 1"))
    os.kill(process.pid, signal.SIGSTOP)
    try:
        settle(client, task)
        winner = client.jobs.task(task)
        assert ends(client, task) == FIRST + SECOND
        (tmp_path / "go").touch()  # now the first attempt succeeds too, as far as it knows
    finally:
        os.kill(process.pid, signal.SIGCONT)
    process.join(PATIENCE_SECONDS)
    assert json.loads((tmp_path / "tally").read_text()) == {"taken": 1}
    assert client.jobs.task(task) == winner
    assert not Path("/proc", str(child)).exists()

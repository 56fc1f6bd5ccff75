"""Workers and dispatchers killed with SIGKILL on a real PostgreSQL: nothing is lost or doubled."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakeguard_sdk import Client
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.errors import Fenced
from lakeguard_sdk.model.definitions import Definitions
from tests.faults import killed_worker
from tests.faults.killed_worker import (
    AFTER,
    BEFORE,
    COMMITS,
    DURING,
)
from tests.faults.test_killed import NEWBORN
from tests.support.lakes.published_by_hand import shown
from tests.support.projects.jobs import (
    DONE,
    JOB,
    assert_books,
    claim_one,
    job_project,
    python_job,
    states,
    trigger,
    work_off,
)
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import states_of

NEWBORN.set_forkserver_preload(["tests.faults.killed_process", "tests.faults.killed_worker"])
PATIENCE_SECONDS = 20.0
WORKER = (
    *(("claim", point) for point in (*COMMITS, "task.claimed")),
    *(("report", point) for point in (*COMMITS, "report.written", "report.recorded")),
)
"""Every step of a worker: what it does, and where it dies in that."""


@pytest.fixture(autouse=True)
def _on_a_server() -> Iterator[None]:
    with states_of("postgresql"):
        yield


def kill(folder: Path, act: str, point: str, given: str = "") -> None:
    process = NEWBORN.Process(target=killed_worker.main, args=(str(folder), act, point, given))
    process.start()
    process.join(timeout=60)
    assert process.exitcode == -signal.SIGKILL, (act, point)


def settle(client: Client, folder: Path, *, completed: int) -> None:
    """The dispatcher turns and a worker works until so many tasks are completed."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while states(folder) != {TaskState.COMPLETED.value: completed}:
        assert time.monotonic() < deadline, states(folder)
        assert client.jobs.tick().problems == ()
        work_off(client)
        time.sleep(0.05)
    assert_books(folder)


def test_a_worker_killed_at_every_step(tmp_path: Path) -> None:
    """Each leaves its task as it was or ended; the next worker does all the rest, once."""
    client = job_project(tmp_path)
    for number, (act, point) in enumerate(WORKER):
        trigger(client, f"{number}")
        kill(tmp_path, act, point)
        assert_books(tmp_path)
    settle(client, tmp_path, completed=len(WORKER))
    assert max(row.attempt for row in client.jobs.tasks(job=JOB, limit=100)) == 2


@pytest.mark.parametrize("point", COMMITS)
def test_a_dispatcher_killed_in_its_turn(point: str, tmp_path: Path) -> None:
    """A file that arrived launches its job once, whoever was killed about it."""
    client = job_project(tmp_path, python_job(on_files="landing/*.csv"), quiet_seconds=0)
    client.jobs.tick()
    landing = tmp_path / "landing"
    landing.mkdir()
    (landing / "orders.csv").write_text("1\n")
    kill(tmp_path, "tick", point)
    before = states(tmp_path)
    if point == BEFORE:
        assert before == {}
    elif point == AFTER:
        assert before == {TaskState.QUEUED.value: 1}
    assert client.jobs.tick().problems == ()
    assert states(tmp_path) == {TaskState.QUEUED.value: 1}
    settle(client, tmp_path, completed=1)


@pytest.mark.parametrize("point", COMMITS)
def test_what_was_acknowledged_is_there(point: str, tmp_path: Path) -> None:
    client = job_project(tmp_path)
    kill(tmp_path, "trigger", point, "once")
    found = client.jobs.tasks(job=JOB)
    acknowledged = tmp_path / "acknowledged"
    if acknowledged.exists():
        assert [row.task_id for row in found] == [acknowledged.read_text()]
    assert acknowledged.exists() is (point == AFTER)
    assert len(found) <= (0 if point == BEFORE else 1)
    assert_books(tmp_path)
    again = client.jobs.trigger(JOB, "tests", key="once")
    assert again.new is (not found)
    settle(client, tmp_path, completed=1)


@pytest.mark.parametrize("point", ["publish.before_commit", "publish.committed"])
def test_a_claimed_build_killed_about_its_commit(point: str, tmp_path: Path) -> None:
    """A commit that is there is adopted by whoever looks next; its rows are there once."""
    client = job_project(tmp_path)
    task_id = client.jobs.trigger("numbers", "tests", key="once").task_id
    kill(tmp_path, "build", point)
    client.jobs.tick()
    row = client.jobs.task(task_id)
    if point == "publish.committed":
        assert (row.state, row.attempt) == (TaskState.COMPLETED, 1)
        assert shown(tmp_path) == [100, 101]
    else:
        assert row.state is TaskState.FAILED
        assert row.due_at is not None, "it is tried again"
        assert list(client.reader.versions(NUMBERS)) == []
    assert_books(tmp_path)


def test_during_a_commit_either_all_or_nothing(tmp_path: Path) -> None:
    """Sent and never answered: whichever it was, it is whole, and the next worker knows."""
    client = job_project(tmp_path)
    for number in range(3):
        trigger(client, f"{number}")
        kill(tmp_path, "report", DURING)
        assert_books(tmp_path)
    settle(client, tmp_path, completed=3)


def test_who_goes_back_and_dies_leaves_no_work_of_the_newer_graph(tmp_path: Path) -> None:
    client = job_project(tmp_path)
    (first,) = client.jobs.dag_versions()
    added = Definitions(jobs=(python_job("later"),))
    client.registry.apply(client.registry.plan(added))
    client.jobs.deploy("forth")
    task_id = trigger(client, "once", "later")
    claimed = claim_one(client)
    kill(tmp_path, "deploy", "graph.activated", first.dag_version_id)
    assert client.jobs.task(task_id).state is TaskState.RUNNING
    assert client.jobs.tick().problems == ()
    assert client.jobs.task(task_id).state is TaskState.CANCELED
    with pytest.raises(Fenced):
        client.dispatch.report(claimed.ticket, DONE)
    assert_books(tmp_path)


def test_who_cancels_and_dies_leaves_it_to_be_canceled(tmp_path: Path) -> None:
    """The build died with its move begun, and so did whoever was about to fence it."""
    client = job_project(tmp_path)
    task_id = client.jobs.trigger("numbers", "tests", key="once").task_id
    kill(tmp_path, "build", "intent.recorded")
    kill(tmp_path, "cancel", "task.canceling", task_id)
    assert client.jobs.task(task_id).state is TaskState.RUNNING
    assert client.jobs.cancel(task_id, "again").state is TaskState.CANCELED
    assert client.jobs.tick().problems == ()
    assert list(client.reader.versions(NUMBERS)) == []
    assert_books(tmp_path)

"""Workers in processes of their own while the server, other sessions or a task do their worst."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.process import BaseProcess
from pathlib import Path

import psycopg
import pytest

from lakeguard.plane import open_state
from lakeguard.settings import load_settings
from lakeguard_sdk import Client, connect
from lakeguard_sdk.core.enums import RunStatus, TaskState
from lakeguard_sdk.errors import Fenced, MoveError, StateUnavailable
from lakeguard_sdk.model.run import RunPlan
from tests.faults import long_running_worker
from tests.faults.long_running_worker import (
    GO,
    HELD,
    LONG,
    POISON,
)
from tests.faults.test_killed import NEWBORN
from tests.support.databases.databases import Server
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.published_by_hand import evidence_of, run_by_hand, shown
from tests.support.projects.jobs import (
    JOB,
    SHORT,
    assert_books,
    claim_one,
    job_project,
    python_job,
    states,
    trigger,
    work_off,
)
from tests.support.projects.planes import ELSEWHERE, NUMBERS
from tests.support.projects.projects import states_of

NEWBORN.set_forkserver_preload(["tests.faults.killed_process", "tests.faults.long_running_worker"])
PATIENCE_SECONDS = 40.0
END_ALL = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'lakeguard' AND pid <> pg_backend_pid()
"""


@pytest.fixture
def own_server() -> Iterator[Server]:
    """One that a test may stop."""
    server = Server()
    server.start()
    yield server
    server.remove()


@pytest.fixture
def _on_a_server() -> Iterator[None]:
    with states_of("postgresql"):
        yield


@contextmanager
def workers(folder: Path, count: int = 1, slots: int = 2) -> Iterator[None]:
    """So many at any time: who dies is followed by another."""
    over = threading.Event()

    def keep_up() -> None:
        alive = [_started(folder, slots) for _ in range(count)]
        while not over.wait(0.05):
            alive = [each if each.is_alive() else _started(folder, slots) for each in alive]
        for each in alive:
            each.kill()
            each.join()

    keeping = threading.Thread(target=keep_up)
    keeping.start()
    try:
        yield
    finally:
        over.set()
        keeping.join()


def _started(folder: Path, slots: int) -> BaseProcess:
    process = NEWBORN.Process(
        target=long_running_worker.main, args=(str(folder), slots), daemon=True
    )
    process.start()
    return process


def turn_until(client: Client, folder: Path, **wanted: int) -> None:
    """The dispatcher turns, through whatever passes, until so many tasks are in each state."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (found := states(folder)) != wanted:
        assert time.monotonic() < deadline, found
        with suppress(StateUnavailable):
            client.jobs.tick()
        time.sleep(0.1)


def wait_for(there: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not there():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_server_that_is_started_again_loses_nothing(own_server: Server, tmp_path: Path) -> None:
    client = job_project(tmp_path, python_job(), python_job(HELD), server=own_server, **SHORT)
    for number in range(30):
        trigger(client, f"{number}", JOB if number < 5 else HELD)
    with workers(tmp_path):
        wait_for(lambda: states(tmp_path) == {"completed": 5, "running": 2, "queued": 23})
        own_server.stop()
        (tmp_path / GO).touch()
        time.sleep(0.2)
        own_server.start()
        turn_until(client, tmp_path, completed=30)
    assert_books(tmp_path)


@pytest.mark.usefixtures("_on_a_server")
def test_a_task_longer_than_three_leases_is_completed(server: Server, tmp_path: Path) -> None:
    """Though the dispatcher looks for lapsed leases, and sessions end when they are kept."""
    client = job_project(tmp_path, python_job(LONG), python_job(), **SHORT)
    task_id = trigger(client, "once", LONG)
    with workers(tmp_path):
        for number in range(5):
            trigger(client, f"{number}")
            time.sleep(1.0)
            server.sql(END_ALL)
            client.jobs.tick()
        turn_until(client, tmp_path, completed=6)
    assert client.jobs.task(task_id).attempt == 1
    assert_books(tmp_path)


@pytest.mark.usefixtures("_on_a_server")
def test_a_task_that_kills_its_workers_is_dead_in_the_end(tmp_path: Path) -> None:
    client = job_project(tmp_path, python_job(POISON, priority="9"), python_job())
    poison = trigger(client, "once", POISON)
    for number in range(5):
        trigger(client, f"{number}")
    with workers(tmp_path, slots=1):
        turn_until(client, tmp_path, completed=5, dead=1)
    row = client.jobs.task(poison)
    assert (row.state, row.attempt) == (TaskState.DEAD, row.max_attempts)
    assert_books(tmp_path)


@pytest.mark.usefixtures("_on_a_server")
def test_a_session_that_holds_tasks_and_does_nothing(server: Server, tmp_path: Path) -> None:
    """What it holds waits for it; everything else is done meanwhile."""
    client = job_project(tmp_path)
    ids = sorted(trigger(client, f"{number}") for number in range(20))
    state = open_state(load_settings(tmp_path, None))
    held = f'SELECT 1 FROM "{state.schema}".tasks WHERE task_id = ANY(%s) FOR UPDATE'
    with psycopg.connect(server.conninfo(str(state.url.database))) as idle:
        idle.execute(held.encode(), [ids[:5]])
        assert {answer.task_id for answer in work_off(client)} == set(ids[5:])
        assert client.jobs.tick().problems == ()
    assert {answer.task_id for answer in work_off(client)} == set(ids[:5])
    assert_books(tmp_path)


def take_all(server: Server, others: ExitStack) -> None:
    """Every session that the server has left."""
    for _ in range(1_000):
        try:
            others.enter_context(psycopg.connect(server.conninfo()))
        except psycopg.OperationalError:
            return
    raise AssertionError("it always had another one")


def test_a_server_without_a_free_session(own_server: Server, tmp_path: Path) -> None:
    """Who has a session goes on; who needs one is told to come again, and then gets it."""
    client = job_project(tmp_path, server=own_server)
    for number in range(3):
        trigger(client, f"{number}")
    assert client.dispatch.keep(()) == {}
    with ExitStack() as others:
        take_all(own_server, others)
        assert len(work_off(client)) == 3
        with pytest.raises(StateUnavailable) as reported:
            connect(tmp_path)
        assert reported.value.retryable
    assert len(connect(tmp_path).jobs.tasks()) == 3
    assert_books(tmp_path)


@pytest.mark.usefixtures("_on_a_server")
def test_a_zombie_that_commits_after_the_winner(tmp_path: Path) -> None:
    """Its lease was over, another attempt published: its commit never lands."""
    client, lake = job_project(tmp_path, lease_seconds=3, heartbeat_seconds=1), DeltaLake()
    client.jobs.trigger("numbers", "tests", key="once")
    (zombie,) = client.dispatch.claim(ELSEWHERE, limit=1)
    plan = client.runs.open_claimed(zombie.ticket)
    assert isinstance(plan, RunPlan)
    client.runs.submit_schema(plan.ticket, plan.declared)
    client.runs.submit_evidence(plan.ticket, evidence_of(lake, plan, [666]))
    client.dispatch.keep([zombie.ticket])
    move = client.runs.begin_move(plan.ticket)
    wait_for(lambda: client.jobs.tick().reaped == 1)
    wait_for(lambda: client.jobs.tick().retried == 1)
    winner = run_by_hand(client, [7], claimed=claim_one(client).ticket)
    assert winner.status is RunStatus.SUCCESS
    with pytest.raises(MoveError):
        lake.publish(move)
    with pytest.raises(Fenced):
        client.runs.complete_move(zombie.ticket, 1)
    assert shown(tmp_path) == [7]
    assert [version.version for version in client.reader.versions(NUMBERS)] == [1]
    assert_books(tmp_path)

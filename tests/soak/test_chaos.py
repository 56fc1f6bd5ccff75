"""Chaos: workers are killed, put to sleep and cut off; every task is completed, and once."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from lakeguard_sdk import Client
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.errors import StateUnavailable
from tests.faults import long_running_worker
from tests.faults.long_running_worker import SLOW
from tests.faults.test_dispatch_outages import END_ALL
from tests.faults.test_killed import NEWBORN
from tests.support.databases.databases import Server
from tests.support.projects.jobs import (
    SHORT,
    assert_books,
    job_project,
    python_job,
    states,
    trigger,
)

pytestmark = pytest.mark.soak

NEWBORN.set_forkserver_preload(["tests.faults.killed_process", "tests.faults.long_running_worker"])
TASKS, WORKERS, SLOTS = 400, 6, 3
SHARE = 0.3
"""Of the workers, killed every time."""
EVERY_SECONDS, ASLEEP_SECONDS, LONGEST_SECONDS = 3.0, 4.0, 120.0
ATTEMPTS = 20


class Crew:
    """Workers in processes of their own; who is gone is followed by another."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder, self.chance = folder, chance
        self.killed = 0
        self.asleep: dict[BaseProcess, float] = {}
        self.alive = [self._hired() for _ in range(WORKERS)]

    def _hired(self) -> BaseProcess:
        arguments = (str(self.folder), SLOTS)
        process = NEWBORN.Process(target=long_running_worker.main, args=arguments, daemon=True)
        process.start()
        return process

    def kill_some(self) -> None:
        for process in self.chance.sample(self.alive, max(1, round(SHARE * WORKERS))):
            process.kill()
            process.join()
            self.killed += 1
        self.alive = [each if each.is_alive() else self._hired() for each in self.alive]

    def put_one_to_sleep(self) -> None:
        """Past its lease: when it wakes, others have done its work."""
        process = self.chance.choice(self.alive)
        if process not in self.asleep:
            _signal(process, signal.SIGSTOP)
            self.asleep[process] = time.monotonic() + ASLEEP_SECONDS

    def wake(self) -> None:
        for process, until in list(self.asleep.items()):
            if time.monotonic() >= until:
                _signal(process, signal.SIGCONT)
                del self.asleep[process]

    def dismiss(self) -> None:
        for process in self.alive:
            process.kill()
            process.join()


def _signal(process: BaseProcess, blow: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(process.pid or 0, blow)


@pytest.fixture
def own_server() -> Iterator[Server]:
    server = Server()
    server.start()
    yield server
    server.remove()


def test_all_tasks_are_completed_once(own_server: Server, tmp_path: Path) -> None:
    seed = int(os.environ.get("CHAOS_SEED", random.SystemRandom().randrange(2**32)))
    sys.stdout.write(f"CHAOS_SEED={seed}\n")
    job = python_job(SLOW, attempts=str(ATTEMPTS))
    client = job_project(tmp_path, job, server=own_server, **SHORT)
    for number in range(TASKS):
        trigger(client, f"{number}", SLOW)
    crew = Crew(tmp_path, random.Random(seed))
    try:
        _wreck(client, crew, own_server)
    finally:
        crew.dismiss()
    assert crew.killed >= WORKERS * SHARE, "nobody was killed"
    assert states(tmp_path) == {TaskState.COMPLETED.value: TASKS}
    assert_books(tmp_path)
    tried = [row.attempt for row in client.jobs.tasks(limit=TASKS)]
    lost = sum(tried) - TASKS
    sys.stdout.write(f"{crew.killed} workers killed, {lost} attempts lost, most {max(tried)}\n")


def _wreck(client: Client, crew: Crew, server: Server) -> None:
    """Until all is done, however long everything goes wrong."""
    deadline = time.monotonic() + LONGEST_SECONDS
    blow = time.monotonic() + EVERY_SECONDS / 2
    while states(crew.folder)[TaskState.COMPLETED.value] < TASKS:
        assert time.monotonic() < deadline, states(crew.folder)
        if time.monotonic() >= blow:
            crew.kill_some()
            if crew.chance.random() < 0.3:
                crew.put_one_to_sleep()
            if crew.chance.random() < 0.3:
                server.sql(END_ALL)
            blow = time.monotonic() + EVERY_SECONDS
        crew.wake()
        with suppress(StateUnavailable):
            client.jobs.tick()
        time.sleep(0.2)

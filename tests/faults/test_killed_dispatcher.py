"""A dispatcher is killed with SIGKILL before, in and after its commits, on each kind of State."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, update

from lakeguard.plane import open_state
from lakeguard.settings import load_settings
from lakeguard.state.schema import job_schedules, tasks
from lakeguard_sdk import Client, connect
from lakeguard_sdk.model.definitions import Definitions
from lakeguard_sdk.storage.fault_points import POINTS
from tests.faults import killed_dispatcher
from tests.faults.test_killed import NEWBORN
from tests.support.databases.databases import KINDS
from tests.support.projects.projects import make_project, states_of
from tests.support.projects.triggered_jobs import body, job

DISPATCHER = tuple(point for point in POINTS if point.startswith("trigger."))
LOOPS = (1, 2)
"""Schedules reach a point first, files second."""
NEWBORN.set_forkserver_preload(["tests.faults.killed_process", "tests.faults.killed_dispatcher"])


@pytest.fixture(autouse=True, params=KINDS)
def _each_state(request: pytest.FixtureRequest) -> Iterator[None]:
    with states_of(request.param):
        yield


def kill_at(folder: Path, point: str, time: int, event: bytes | None = None) -> None:
    arguments = (str(folder), point, time, event)
    process = NEWBORN.Process(target=killed_dispatcher.main, args=arguments)
    process.start()
    process.join(timeout=60)
    assert process.exitcode == -signal.SIGKILL, point


def waiting_project(folder: Path) -> Client:
    """One job is due since a while, and a file waits for another."""
    jobs = (
        job("timed", schedule="0 0 1 1 *"),
        job("filed", on_files="landing/*.csv"),
        job("told", on_event='{"source": ["shop"]}'),
    )
    client = make_project(folder, Definitions(jobs=jobs), quiet_seconds=0)
    client.jobs.deploy("tests")
    assert client.jobs.tick().problems == ()
    database = open_state(load_settings(folder, None))
    with database.write() as connection:
        then = datetime.now(UTC) - timedelta(hours=1)
        connection.execute(update(job_schedules).values(next_at=then))
    database.close()
    landed = folder / "landing" / "a.csv"
    landed.parent.mkdir()
    landed.write_text("x")
    return client


def launched(folder: Path) -> list[str]:
    database = open_state(load_settings(folder, None))
    with database.read() as connection:
        found = sorted(
            key.partition(":")[0] for key in connection.scalars(select(tasks.c.dedupe_key))
        )
    database.close()
    return found


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("point", DISPATCHER)
def test_nothing_is_lost_and_nothing_is_launched_twice(
    point: str, loop: int, tmp_path: Path
) -> None:
    waiting_project(tmp_path)
    kill_at(tmp_path, point, loop)
    before = launched(tmp_path)
    done = (["cron"] if loop == 2 else []) + (["file"] if loop == 2 else ["cron"])
    assert before == (done if point == "trigger.committed" else done[:-1]), "whole, or absent"
    client = connect(tmp_path)
    assert client.jobs.tick().problems == ()
    assert launched(tmp_path) == ["cron", "file"]
    assert client.jobs.tick().triggered == 0


@pytest.mark.parametrize("point", ["trigger.launched", "trigger.committed"])
def test_an_event_that_got_no_answer_is_sent_again_and_starts_one_job(
    point: str, tmp_path: Path
) -> None:
    client = waiting_project(tmp_path)
    kill_at(tmp_path, point, 1, body())
    was = ["event"] if point == "trigger.committed" else []
    assert launched(tmp_path) == was
    (launch,) = client.jobs.receive(body())
    assert launch.new is not bool(was)
    assert launched(tmp_path) == ["event"]

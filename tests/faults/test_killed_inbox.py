"""Whoever takes reports is killed with SIGKILL around its commit, on each kind of State."""

from __future__ import annotations

import http.client
import signal
from collections.abc import Iterator
from multiprocessing import Pipe
from pathlib import Path

import pytest
from sqlalchemy import func, select

from lakeguard.http import parse_place
from lakeguard.plane import open_state
from lakeguard.settings import load_settings
from lakeguard.state.schema import output_materializations, task_results
from lakeguard_sdk import Client
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.model.definitions import Definitions, JobDefinition
from lakeguard_sdk.model.run import RunTicket
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.faults import killed_http
from tests.faults.test_killed import NEWBORN
from tests.support.databases.databases import KINDS
from tests.support.fakes.http_clients import Inbox, send_report, serve
from tests.support.projects.projects import make_project, states_of
from tests.support.projects.running_tasks import DONE

SWEEP = JobDefinition(
    job="sweep", type="python", config={"call": "jobs:main", "outputs": "swept"}
)  # fmt: skip


@pytest.fixture(autouse=True, params=KINDS)
def _each_state(request: pytest.FixtureRequest) -> Iterator[None]:
    with states_of(request.param):
        yield


@pytest.fixture
def client(tmp_path: Path) -> Client:
    made = make_project(tmp_path, Definitions(jobs=(SWEEP,)))
    made.jobs.deploy("tests")
    return made


def begun(client: Client) -> RunTicket:
    client.jobs.trigger("sweep", "tests", key="day 1")
    (assignment,) = client.dispatch.claim(this_process("test"))
    return assignment.ticket


def kept(folder: Path) -> list[int]:
    database = open_state(load_settings(folder))
    try:
        with database.read() as connection:
            return [
                int(connection.scalar(select(func.count()).select_from(table)) or 0)
                for table in (task_results, output_materializations)
            ]
    finally:
        database.close()


@pytest.mark.parametrize(("point", "there"), [("report.written", 0), ("report.recorded", 1)])
def test_a_report_is_taken_whole_or_not_at_all(
    client: Client, tmp_path: Path, point: str, there: int
) -> None:
    ticket = begun(client)
    ours, theirs = Pipe()
    process = NEWBORN.Process(target=killed_http.main, args=(str(tmp_path), point, theirs))
    process.start()
    assert ours.poll(60)
    with pytest.raises((http.client.HTTPException, OSError)):
        send_report(Inbox(ours.recv()), ticket, DONE.to_json())
    process.join(timeout=60)
    assert process.exitcode == -signal.SIGKILL
    assert kept(tmp_path) == [there, there]
    with serve(client, parse_place("127.0.0.1:0")) as inbox:
        first, again = (send_report(inbox, ticket, DONE.to_json()) for _ in range(2))
    assert (first.status, first.body) == (200, again.body)
    assert kept(tmp_path) == [1, 1]
    assert client.jobs.task(ticket.task_id).state is TaskState.COMPLETED

"""Workers and dispatchers that die by SIGKILL: at a named point, or about a commit."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from sqlalchemy import Connection, Engine, event

from lakeguard.state.connections import is_reading
from lakeguard_sdk import Client, connect
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.scheduling.tasks import Assignment
from lakeguard_sdk.storage import fault_points
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.jobs import DONE, JOB

BEFORE, DURING, AFTER = "commit.before", "commit.during", "commit.after"
COMMITS = (BEFORE, DURING, AFTER)
"""Of the last thing that a process does: never sent, sent and not answered, answered."""


def main(folder: str, act: str, point: str, given: str = "") -> None:
    client = connect(folder)
    steps = _steps(client, act, given, Path(folder))
    for step in steps[:-1]:
        step()
    fault_points.listen(lambda reached: _die() if reached == point else None)
    if point in (BEFORE, DURING):
        event.listen(Engine, "commit", lambda connection: _die_about(connection, point))
    steps[-1]()
    if point == AFTER:
        _die()


def _steps(client: Client, act: str, given: str, folder: Path) -> list[Callable[[], object]]:
    claimed: list[Assignment] = []

    def claim() -> None:
        claimed.extend(client.dispatch.claim(this_process("mortal"), limit=1))

    def report() -> None:
        client.dispatch.report(claimed[0].ticket, DONE)

    def build() -> None:
        run_by_hand(client, [100, 101], claimed=claimed[0].ticket)

    def trigger() -> None:
        launched = client.jobs.trigger(JOB, "mortal", key=given)
        (folder / "acknowledged").write_text(launched.task_id)

    acts: dict[str, list[Callable[[], object]]] = {
        "claim": [claim],
        "report": [claim, report],
        "build": [claim, build],
        "tick": [client.jobs.tick],
        "trigger": [trigger],
        "deploy": [lambda: client.jobs.deploy("back", to=given)],
        "cancel": [lambda: client.jobs.cancel(given)],
    }
    return acts[act]


def _die_about(connection: Connection, point: str) -> None:
    if is_reading(connection):
        return
    if point == DURING:
        server = connection.connection.driver_connection.pgconn
        server.send_query(b"COMMIT")
        server.flush()
    _die()


def _die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("nobody survives that")

"""Machines whose wall clocks are five minutes off: the server's clock decides for all of them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from lakeguard.state.database import Database
from lakeguard.state.schema import tasks
from tests.support.fakes import wrong_clock
from tests.support.projects.queues import Queue, job, make_queue

OFF_SECONDS = 300


class Machine:
    """A process with a wall clock of its own, and what it answers."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, what: str, argument: Any = None) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([what, argument]) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


@contextmanager
def machine(queue: Queue, seconds: int) -> Iterator[Machine]:
    state = queue.context.database
    place = [str(state.url), state.schema, queue.context.org_id]
    command = [sys.executable, str(Path(wrong_clock.__file__)), str(seconds), *place]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield Machine(process)
        finally:
            process.kill()


@pytest.fixture
def queue(schema: Database) -> Queue:
    schema.migrate()
    clock: Any = schema.clock
    return make_queue(schema, job("sweep", concurrency=9), clock=clock)


def lease_seconds(queue: Queue, task_id: str) -> float:
    """How long the lease is good for from now, by the server."""
    query = select(tasks.c.lease_expires_at).where(tasks.c.task_id == task_id)
    with queue.context.read() as tx:
        until: datetime = tx.scalars(query).one()
    return (until - queue.clock()).total_seconds()


def lapse(queue: Queue, task_id: str) -> None:
    over = queue.clock() - timedelta(seconds=1)
    with queue.context.write() as tx:
        tx.execute(update(tasks).where(tasks.c.task_id == task_id).values(lease_expires_at=over))


def test_machines_ten_minutes_apart_claim_keep_and_reap_alike(queue: Queue) -> None:
    with ExitStack() as running:
        ahead = running.enter_context(machine(queue, OFF_SECONDS))
        behind = running.enter_context(machine(queue, -OFF_SECONDS))
        for each, seconds in ((ahead, OFF_SECONDS), (behind, -OFF_SECONDS)):
            off = datetime.fromisoformat(each.ask("time")) - datetime.now(UTC)
            assert abs(off.total_seconds() - seconds) < 30, "its wall clock is moved"
        (due,), _ = queue.put("sweep"), queue.put("sweep", due_in=200)
        (first,) = ahead.ask("claim", 9)
        assert first["task_id"] == due, "what is due in 200 s is not due for it"
        (soon,) = queue.put("sweep")
        (second,) = behind.ask("claim", 9)
        assert second["task_id"] == soon, "what is due now is due for it"
        for each, other in ((ahead, second), (behind, first)):
            assert lease_seconds(queue, other["task_id"]) == pytest.approx(120, abs=30)
            assert each.ask("reap") == [], "no lease is over for it"
            assert each.ask("keep", [first, second]) == dict.fromkeys(
                (first["run_id"], second["run_id"]), 120
            )
            assert lease_seconds(queue, other["task_id"]) == pytest.approx(120, abs=30)
        lapse(queue, due)
        assert ahead.ask("keep", [first]) == behind.ask("keep", [first]) == {}
        assert behind.ask("reap") == [due]
        lapse(queue, soon)
        assert ahead.ask("reap") == [soon]

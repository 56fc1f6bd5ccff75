"""One race: so many tasks that do nothing, so many processes, the time until all are completed."""

from __future__ import annotations

import gc
import multiprocessing
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from multiprocessing.synchronize import Event, Semaphore

from bench.dispatch.guarantees import Guarantees
from tests.support.databases.databases import OWNER, Server

PATIENCE_SECONDS = 300


@dataclass(frozen=True)
class Address:
    """Where the server is, for a process of its own."""

    host: str
    port: int
    user: str = OWNER
    database: str = "postgres"

    @property
    def url(self) -> str:
        return f"postgresql://{self.user}@:{self.port}/{self.database}?host={self.host}"


@dataclass(frozen=True)
class Gate:
    """Nobody starts before everybody is connected.

    What a process made while it started is kept out of later garbage collections, which would
    otherwise come at one moment or another and decide short races.
    """

    ready: Semaphore
    opened: Event

    def pass_through(self) -> None:
        gc.freeze()
        self.ready.release()
        self.opened.wait(PATIENCE_SECONDS)


@dataclass(frozen=True)
class Queue:
    """A queue as its own documents say that it is used for many small tasks."""

    name: str
    use: str
    """How it was set up for the race."""
    guarantees: Guarantees
    fill: Callable[[Address, int], None]
    """Makes the tables where there are none, and queues tasks."""
    drain: Callable[[Address, Gate], None]
    """The work of one process: it ends when the queue is empty."""
    done: str
    """How many tasks were completed since a moment, and when the last of them was."""


def race(server: Server, queue: Queue, workers: int, tasks: int) -> float:
    """Completions in a second. The server's clock says when the last one was recorded."""
    address = Address(str(server.folder), server.port)
    queue.fill(address, tasks)
    server.sql("VACUUM ANALYZE")  # nobody pays for the filling
    server.sql("CHECKPOINT")
    newborn = multiprocessing.get_context("spawn")
    gate = Gate(newborn.Semaphore(0), newborn.Event())
    processes = [
        newborn.Process(target=queue.drain, args=(address, gate), daemon=True)
        for _ in range(workers)
    ]
    for process in processes:
        process.start()
    for _ in processes:
        assert gate.ready.acquire(timeout=PATIENCE_SECONDS), queue.name
    begun = _now(server)
    gate.opened.set()
    for process in processes:
        process.join(PATIENCE_SECONDS)
    assert [process.exitcode for process in processes] == [0] * workers, queue.name
    return tasks / _seconds(server, queue, begun, tasks)


def _seconds(server: Server, queue: Queue, begun: datetime, tasks: int) -> float:
    ((done, last),) = server.sql(queue.done.format(begun=begun.isoformat()))
    assert done == tasks, f"{queue.name} completed {done} of {tasks}"
    assert isinstance(last, datetime)
    return (last - begun).total_seconds()


def _now(server: Server) -> datetime:
    ((now,),) = server.sql("SELECT clock_timestamp()")
    assert isinstance(now, datetime)
    return now

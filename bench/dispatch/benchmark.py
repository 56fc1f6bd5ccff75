"""Fenced and durable completions a second beside two other queues, claims, and schedules."""

from __future__ import annotations

import statistics

from bench.dispatch.claims import claim_figures
from bench.dispatch.held import held_figures
from bench.dispatch.ours import OURS, SINGLY
from bench.dispatch.python_jobs import python_job_figures
from bench.dispatch.racing import Queue, race
from bench.dispatch.schedules import schedule_figures
from bench.dispatch.through_worker import worker_figures
from bench.dispatch.with_pgqueuer import PGQUEUER
from bench.dispatch.with_procrastinate import PROCRASTINATE
from bench.figures import Figure
from tests.support.databases.databases import Server

NAME = "dispatch"
QUEUES = (OURS, SINGLY, PROCRASTINATE, PGQUEUER)
WORKERS = (1, 8)
TASKS = 4_000
ROUNDS = 3
LEAST = {OURS: 1_000.0, SINGLY: 700.0}
"""Completions a second of ours with eight workers."""


def run() -> list[Figure]:
    server = Server(durable=True)
    server.start()
    try:
        ((safe, waits),) = server.sql(
            "SELECT current_setting('fsync'), current_setting('synchronous_commit')"
        )
        print(f"{NAME}: fsync {safe}, synchronous_commit {waits}", flush=True)
        figures = [*race_figures(server), *worker_figures(server), *python_job_figures(server)]
        figures += held_figures(server)
        return [*figures, *claim_figures(server), *schedule_figures(server)]
    finally:
        server.remove()


def race_figures(
    server: Server,
    workers: tuple[int, ...] = WORKERS,
    tasks: int = TASKS,
    rounds: int = ROUNDS,
) -> list[Figure]:
    """All queues in turn in every round, so that a busy machine slows down all of them."""
    rates: dict[tuple[Queue, int], list[float]] = {}
    for _ in range(rounds):
        for count in workers:
            for queue in QUEUES:
                rate = race(server, queue, count, tasks)
                print(f"  {queue.name}, {count} workers: {rate:,.0f}/s", flush=True)
                rates.setdefault((queue, count), []).append(rate)
    most = max(workers)
    figures = [
        _figure(queue, count, found, barred=count == most)
        for (queue, count), found in rates.items()
    ]
    return [*figures, _ahead(rates[SINGLY, most], rates[PROCRASTINATE, most])]


def _ahead(ours: list[float], theirs: list[float]) -> Figure:
    """The worse of the ratios of medians and of the best rounds."""
    ratio = min(statistics.median(ours) / statistics.median(theirs), max(ours) / max(theirs))
    return Figure(f"{SINGLY.name} over {PROCRASTINATE.name}", ratio, "times", 1.0, least=True)


def _figure(queue: Queue, workers: int, rates: list[float], *, barred: bool) -> Figure:
    """Of most workers, with its bar and with what the queue guarantees."""
    least = LEAST.get(queue) if barred else None
    return Figure(
        f"{queue.name}, completions with {workers} worker{'s' if workers > 1 else ''}",
        statistics.median(rates),
        "/s",
        least,
        least=least is not None,
        note=f"{queue.use}; {queue.guarantees.text}" if barred else "",
    )

"""Completions of the loop of ``lakeguard worker`` that knows a service, beside one that has the
database."""

from __future__ import annotations

import statistics
from dataclasses import replace
from functools import partial

from bench.dispatch.racing import Address, Gate, race
from bench.dispatch.through_worker import SLOTS, WORKERS, work_through
from bench.figures import Figure
from bench.service.rig import Project, Served
from lakeguard_sdk.api.connection import connect_remote
from tests.support.databases.databases import Server

RATIO_BAR = 0.7
TASKS = 2_000
ROUNDS = 3
PROCESSES = (1, 2)
_NOTE = (
    "The tasks do nothing, so that this compares the calls alone: one process serves all workers,"
    " on the two cores that they share with PostgreSQL."
)
SCHEMA = "race"
"""That of the State that ``race`` fills."""


def worker_figures(
    server: Server,
    project: Project,
    service: Served,
    processes: tuple[int, ...] = PROCESSES,
    tasks: int = TASKS,
    rounds: int = ROUNDS,
) -> list[Figure]:
    """Both kinds in turns; the service is one process, whatever the number of workers."""
    token = project.token("workers")
    drain = partial(drain_over_http, service.url, token)
    remote = replace(WORKERS, name="worker over HTTP", drain=drain)
    figures = []
    for count in processes:
        rates: dict[str, list[float]] = {}
        for _ in range(rounds):
            for queue in (WORKERS, remote):
                rate = race(server, queue, count, tasks)
                print(f"  {queue.name}, {count} processes: {rate:,.0f}/s", flush=True)
                rates.setdefault(queue.name, []).append(rate)
        figures += _beside(count, rates[remote.name], rates[WORKERS.name])
    return figures


def drain_over_http(url: str, token: str, _: Address, gate: Gate) -> None:
    work_through(connect_remote(url, token=token).dispatch, gate)


def _beside(count: int, ours: list[float], direct: list[float]) -> list[Figure]:
    """The worse of the ratios of medians and of the best rounds."""
    ratio = min(statistics.median(ours) / statistics.median(direct), max(ours) / max(direct))
    label = f"{count} process{'es' if count > 1 else ''} of {SLOTS} slots"
    return [
        Figure(f"completions over HTTP, {label}", statistics.median(ours), "/s"),
        Figure(f"completions of direct workers, {label}", statistics.median(direct), "/s"),
        Figure(
            f"workers over HTTP / direct, {label}", ratio, "x", RATIO_BAR, least=True, note=_NOTE
        ),
    ]

"""Completions of the loop of ``lakeguard worker``: claim, heartbeat and report, with work that
takes no time."""

from __future__ import annotations

import statistics
from dataclasses import replace

from bench.dispatch.ours import OURS, context_of
from bench.dispatch.racing import Address, Gate, race
from bench.figures import Figure
from lakeguard.services.ports.dispatch import EmbeddedDispatch
from lakeguard.worker.loop import WorkerOptions, WorkLoop
from lakeguard.worker.report_batches import ReportBatcher
from lakeguard.worker.task_runner import report_end
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.scheduling.tasks import Dispatch, TaskReport
from tests.support.databases.databases import Server

SLOTS = 8
LEAST = {1: 500.0, 4: 1_000.0}
"""Completions a second, by processes."""
TASKS = 2_000
ROUNDS = 3


def drain(address: Address, gate: Gate) -> None:
    work_through(EmbeddedDispatch(context_of(address, "race")), gate)


def work_through(dispatch: Dispatch, gate: Gate) -> None:
    """Until the queue is empty."""
    dispatch.keep(())  # connected
    reports, done = ReportBatcher(dispatch), TaskReport(success=True)
    loop = WorkLoop(
        dispatch=dispatch,
        identity=this_process("bench"),
        work=lambda attempt: report_end(reports, attempt, done),
        halt=lambda: None,
        options=WorkerOptions(slots=SLOTS, drain=True),
        reports=reports,
    )
    gate.pass_through()
    loop.run()


WORKERS = replace(OURS, name="lakeguard worker", use=f"{SLOTS} slots each", drain=drain)


def worker_figures(
    server: Server, processes: tuple[int, ...] = (1, 4), tasks: int = TASKS, rounds: int = ROUNDS
) -> list[Figure]:
    rates: dict[int, list[float]] = {}
    for _ in range(rounds):
        for count in processes:
            rate = race(server, WORKERS, count, tasks)
            print(f"  {WORKERS.name}, {count} processes: {rate:,.0f}/s", flush=True)
            rates.setdefault(count, []).append(rate)
    return [
        Figure(
            f"{WORKERS.name}, completions with {count} process{'es' if count > 1 else ''}",
            statistics.median(found),
            "/s",
            LEAST.get(count),
            least=True,
            note=WORKERS.use,
        )
        for count, found in rates.items()
    ]

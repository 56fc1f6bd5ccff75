"""How long one claim takes in a short queue and in a long one."""

from __future__ import annotations

import statistics
import time

from bench.dispatch.ours import context_of, define_jobs, idle_job, queue_tasks
from bench.dispatch.racing import Address
from bench.figures import Figure
from lakeguard.services.ports.dispatch import EmbeddedDispatch
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.databases.databases import Server

SHORT, LONG = 1_000, 100_000
CLAIMS, WARM_UP = 300, 10
RATIO_BAR = 1.5


def claim_figures(
    server: Server, short: int = SHORT, long: int = LONG, claims: int = CLAIMS
) -> list[Figure]:
    """In turns, so that a busy machine slows down both."""
    queues = {depth: _queue(server, depth, claims) for depth in (short, long)}
    times: dict[int, list[float]] = {depth: [] for depth in queues}
    for number in range(WARM_UP + claims):
        for depth, queue in queues.items():
            spent = _claim(queue)
            if number >= WARM_UP:
                times[depth].append(spent)
    p50 = {depth: statistics.median(spent) for depth, spent in times.items()}
    return [
        *(Figure(f"claim p50, {depth:,} queued", p50[depth], "ms") for depth in queues),
        Figure(f"claim p50, {long:,} / {short:,} queued", p50[long] / p50[short], "x", RATIO_BAR),
    ]


def _queue(server: Server, depth: int, claims: int) -> EmbeddedDispatch:
    """One that is so deep when half of the claims are made."""
    context = context_of(Address(str(server.folder), server.port), f"depth_{depth}")
    job_ids = define_jobs(context, [idle_job(f"nothing_{number:02d}") for number in range(10)])
    queue_tasks(context, job_ids, depth + WARM_UP + claims // 2)
    server.sql("VACUUM ANALYZE")
    print(f"  {depth:,} tasks are queued", flush=True)
    return EmbeddedDispatch(context)


def _claim(dispatch: EmbeddedDispatch) -> float:
    start = time.perf_counter()
    claimed = dispatch.claim(this_process("bench"), limit=1)
    spent = (time.perf_counter() - start) * 1000
    assert len(claimed) == 1
    return spent

"""Schedules that are all due at once: one turn of the dispatcher launches them."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import timedelta

from bench.dispatch.ours import context_of, define_jobs, idle_job
from bench.dispatch.racing import Address
from bench.figures import Figure
from lakeguard.services.ports.jobs import EmbeddedJobs
from tests.support.databases.databases import Server

JOBS = 10_000
ROUNDS = 5
BAR_S = 1.0


def schedule_figures(server: Server, jobs: int = JOBS, rounds: int = ROUNDS) -> list[Figure]:
    """The best of several hours: others on the machine can only make it slower."""
    context = context_of(Address(str(server.folder), server.port), "schedules")
    hours = [0]
    clock = context.clock
    context = replace(context, clock=lambda: clock() + timedelta(hours=hours[0]))
    named = [idle_job(f"hourly_{number:05d}", schedule="0 * * * *") for number in range(jobs)]
    define_jobs(context, named)
    server.sql("VACUUM ANALYZE")
    dispatcher = EmbeddedJobs(context)
    assert dispatcher.tick().scheduled == 0
    walls, cpus = [], []
    for _ in range(rounds):
        hours[0] += 1
        wall, cpu = time.perf_counter(), time.process_time()
        ticked = dispatcher.tick()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
        assert (ticked.scheduled, ticked.problems) == (jobs, ()), ticked
        print(f"  {jobs:,} jobs scheduled: {walls[-1]:.2f} s", flush=True)
    label = f"one turn, {jobs:,} cron jobs due"
    return [
        Figure(label, min(walls), "s", BAR_S),
        Figure(f"{label}, CPU", min(cpus), "s"),
    ]

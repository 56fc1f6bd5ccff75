"""How long ``lakeguard verify`` takes on a young lake, and how much each run adds to it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from bench.figures import SCRATCH, Figure
from lakeguard_sdk import Client
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.projects import numbers_project

FIRST = 1
MANY = (100, 105, 110, 115, 120)
"""Several, because tables of the ledger are compacted now and then: the slowest counts."""
ROUNDS = 5
BAR_S = 1.5
GROWTH_BAR_MS = 2.0
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def verified() -> list[Figure]:
    """Least times: others on the machine can only add to them."""
    folder = SCRATCH / "verify"
    shutil.rmtree(folder, ignore_errors=True)
    client = numbers_project(folder)
    least: dict[int, float] = {}
    for before, runs in pairwise((0, FIRST, *MANY)):
        _deliver_runs(client, runs - before)
        least[runs] = _least(lambda: _verify(client))
        print(f"  verify at run {runs}: {least[runs] * 1000:.0f} ms in process", flush=True)
    last, most = MANY[-1], max(least[runs] for runs in MANY)
    growth = (most - least[FIRST]) / (last - FIRST)
    return [
        Figure(
            f"lakeguard verify at run {last}, least", _least(lambda: _command(folder)), "s", BAR_S
        ),
        Figure(f"verify in process at run {last}, least", least[last], "s"),
        Figure(f"verify in process at run {FIRST}, least", least[FIRST], "s"),
        Figure("verify, growth a run", growth * 1000, "ms", GROWTH_BAR_MS),
    ]


def _deliver_runs(client: Client, count: int) -> None:
    """Each run is delivered by itself, as commands do."""
    for number in range(count):
        run_by_hand(client, [number])
        client.deliver()


def _verify(client: Client) -> None:
    report = client.ledger.verify()
    assert report.findings == (), report.findings[:3]


def _command(folder: Path) -> None:
    command = [sys.executable, "-m", "lakeguard.cli.main", "verify"]
    subprocess.run(command, cwd=folder, env=ENVIRONMENT, check=True, capture_output=True)


def _least(work: Callable[[], None]) -> float:
    """Seconds of the fastest round, after one that imports and fills caches."""
    work()
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)

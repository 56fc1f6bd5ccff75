"""A history of 100,000 runs: told to the ledger, proved, and the State made again from it."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from bench.figures import SCRATCH, Figure
from bench.history import ORG, History, make_history
from lakeguard.insight.verifying import verify
from lakeguard.lake.delta import DeltaTables
from lakeguard.relay.rebuilding import Rebuild
from lakeguard.state.database import Database

NAME = "proof"
RUNS = 100_000
DATASETS = 10
RELAY_RUNS = 14_000
"""Enough for 200,000 rows."""
RELAY_BAR_US = 50.0
VERIFY_BAR_S = 60.0
REBUILD_BAR_S = 120.0


def run() -> list[Figure]:
    shutil.rmtree(SCRATCH, ignore_errors=True)
    try:
        print(f"{NAME}: {RELAY_RUNS:,} runs to relay, {RUNS:,} to prove", flush=True)
        relayed = relay(SCRATCH / "relay")
        history = make_history(_fresh(SCRATCH / "proof"), RUNS, DATASETS)
        return [*relayed, *proof(history), *rebuilt(history)]
    finally:
        shutil.rmtree(SCRATCH, ignore_errors=True)


def relay(folder: Path) -> list[Figure]:
    """What a drain costs per row that was told."""
    history = make_history(_fresh(folder), RELAY_RUNS, DATASETS)
    each = history.relay_seconds / history.rows * 1_000_000
    print(f"  {history.rows:,} rows relayed in {history.relay_seconds:.1f} s", flush=True)
    return [Figure(f"relay of {history.rows:,} rows, per row", each, "us", RELAY_BAR_US)]


def proof(history: History) -> list[Figure]:
    def whole() -> None:
        report = verify(
            history.database,
            history.lake,
            ORG,
            DeltaTables(),
            replay=False,
            head=None,
            progress=None,
        )
        assert report.findings == (), report.findings[:3]
        print(f"  {report.rows:,} rows, {report.commits:,} commits", flush=True)

    seconds, cpu = _timed(whole)
    return [
        Figure(f"verify, {RUNS:,} runs", seconds, "s", VERIFY_BAR_S),
        Figure(f"verify, {RUNS:,} runs, CPU", cpu, "s"),
    ]


def rebuilt(history: History) -> list[Figure]:
    """Into an empty database beside the first; the lake has a new owner afterwards."""
    other = Database(f"sqlite:///{history.lake}/.lakeguard/again.db")
    rebuild = Rebuild(other, history.lake, ORG, lambda: datetime.now(UTC))
    seconds, cpu = _timed(rebuild.run)
    return [
        Figure(f"rebuild, {RUNS:,} runs", seconds, "s", REBUILD_BAR_S),
        Figure(f"rebuild, {RUNS:,} runs, CPU", cpu, "s"),
    ]


def _fresh(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def _timed(call: Callable[[], object]) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - wall, time.process_time() - cpu

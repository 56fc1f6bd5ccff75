"""A history of 100,000 runs: delivered to the ledger, verified, and rebuilt."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime

from bench.figures import SCRATCH, Figure
from bench.history import ORG, History, make_history
from lakeguard.insight.verification import verify
from lakeguard.lake.delta import DeltaTables
from lakeguard.relay.rebuild import Rebuild
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState

RUNS = 100_000
DATASETS = 10
VERIFY_BAR_S = 60.0
REBUILD_BAR_S = 120.0


def proved() -> list[Figure]:
    folder = SCRATCH / "proof"
    folder.mkdir(parents=True)
    history = make_history(folder, RUNS, DATASETS)
    print(f"  a history of {RUNS:,} runs is delivered", flush=True)
    return [*proof(history), *rebuilt(history)]


def proof(history: History) -> list[Figure]:
    def whole() -> None:
        report = verify(
            OrganisationState.of(history.database, ORG),
            history.lake,
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
    rebuild = Rebuild(OrganisationState.of(other, ORG, lambda: datetime.now(UTC)), history.lake)
    seconds, cpu = _timed(rebuild.run)
    return [
        Figure(f"rebuild, {RUNS:,} runs", seconds, "s", REBUILD_BAR_S),
        Figure(f"rebuild, {RUNS:,} runs, CPU", cpu, "s"),
    ]


def _timed(call: Callable[[], object]) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - wall, time.process_time() - cpu

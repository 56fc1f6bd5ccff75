"""A checked write against an unchecked one: the same file, the same process, in turns."""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench import isolated_code
from bench.dirty_orders import DIRTY_RULES, write_dirty_orders
from bench.figures import SCRATCH, Figure
from bench.hundred_rules import hundred_rules
from bench.orders import RULES, write_orders
from bench.orders_project import DATASET, make_project
from bench.orders_rig import OrdersRig
from bench.stopwatch import Laps
from bench.turns import against_bare, governed, submitted
from openlaketx.engine.spark.session import spark_session
from openlaketx.worker import create_worker

NAME = "guarded_write"
PAIRS = 9
WARM_UP = 3
SIZES = {"0.5 M": 500_000, "2 M": 2_000_000}
RATIO_BAR = 1.0
MANY_BAR = 1.15
DIRTY_BAR = 1.25
SMALL_ROWS = 10
SMALL_RUNS = 15
SMALL_BAR_MS = 300.0


@dataclass
class Rig(OrdersRig):
    """Also times the steps of a run."""

    laps: Laps

    def guarded(self) -> float:
        task = submitted(self.client, DATASET)
        self.laps.start()
        governed(self.worker, task)
        return self.laps.stop()


def run() -> list[Figure]:
    shutil.rmtree(SCRATCH, ignore_errors=True)
    try:
        most = max(SIZES.values())
        figures = []
        for label, rows in SIZES.items():
            figures += _ratios(f"{label} rows", rows, RULES, RATIO_BAR if rows == most else None)
        many = hundred_rules()
        figures += _ratios(f"2 M rows under {len(many)} rules", most, many, MANY_BAR)
        figures += [*dirty(), *isolated_code.run()]
        return [*figures, *_small()]
    finally:
        shutil.rmtree(SCRATCH, ignore_errors=True)


def dirty() -> list[Figure]:
    """One row in a hundred is quarantined by a rule; the other side appends them all."""
    most = max(SIZES.values())
    label = "2 M rows, 1 % of them quarantined"
    return _ratios(label, most, DIRTY_RULES, DIRTY_BAR, write_dirty_orders)


def _rig(name: str, rules: tuple[str, ...] = RULES) -> Rig:
    folder = SCRATCH / name
    client = make_project(folder, rules)
    laps = Laps()
    worker = create_worker(client.for_worker(), spark_options={}, progress=laps.report)
    return Rig(folder, client, worker, spark_session({}, delta=True), laps)


def _ratios(
    label: str,
    rows: int,
    rules: tuple[str, ...],
    bar: float | None,
    write: Callable[[Path, int], None] = write_orders,
) -> list[Figure]:
    file = SCRATCH / f"{rows}.parquet"
    print(f"{NAME}: writing {label} of orders", flush=True)
    write(file, rows)
    rig = _rig(f"ratio-{rows}-{len(rules)}-{write.__name__}", rules)
    pairs = rig.pairs(file, label, PAIRS, WARM_UP)
    shutil.rmtree(rig.folder, ignore_errors=True)  # the ledger may still be delivered there
    return against_bare(label, pairs, bar)


def _small() -> list[Figure]:
    """What everything but reading, writing and committing costs."""
    file = SCRATCH / "small.parquet"
    write_orders(file, SMALL_ROWS)
    rig = _rig("small")
    rests, totals = [], []
    for number in range(WARM_UP + SMALL_RUNS):
        rig.land(file)
        total = rig.guarded()
        if number >= WARM_UP:
            totals.append(total)
            rests.append(total - rig.laps.seconds("extract", "stage", "commit"))
    print(f"  {SMALL_ROWS} rows: {SMALL_RUNS} runs", flush=True)
    rest = statistics.median(rests) * 1000
    label = f"guarded run minus extract, stage and commit, {SMALL_ROWS} rows"
    return [
        Figure(label, rest, "ms", SMALL_BAR_MS),
        Figure(f"guarded run, {SMALL_ROWS} rows", statistics.median(totals) * 1000, "ms"),
    ]

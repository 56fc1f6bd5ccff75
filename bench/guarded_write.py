"""A checked write against an unchecked one: the same file, the same process, in turns."""

from __future__ import annotations

import shutil
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from bench import isolated_code
from bench.dirty_orders import DIRTY_RULES, write_dirty_orders
from bench.figures import SCRATCH, Figure
from bench.hundred_rules import hundred_rules
from bench.orders import RULES, write_orders
from bench.orders_project import DATASET, land, make_project
from bench.stopwatch import Laps
from bench.turns import against_bare, governed, in_turns, submitted
from lakeguard_sdk.client import Client
from openlaketx.engine.spark.session import spark_session
from openlaketx.worker import SparkWorker, create_worker

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
class Rig:
    """One project, its worker and the session that both sides share."""

    folder: Path
    client: Client
    worker: SparkWorker
    spark: SparkSession
    laps: Laps
    landed: int = 0

    def land(self, file: Path) -> Path:
        self.landed += 1
        return land(self.folder, file, self.landed)

    def guarded(self) -> float:
        """Seconds of a run, from open to complete."""
        task = submitted(self.client, DATASET)
        self.laps.start()
        governed(self.worker, task)
        return self.laps.stop()

    def bare(self, file: Path) -> float:
        """Seconds of Spark reading the file and appending it with delta-spark."""
        target = str(self.folder / "bare")
        start = time.perf_counter()
        self.spark.read.parquet(str(file)).write.format("delta").mode("append").save(target)
        return time.perf_counter() - start


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
    pairs = [_pair(rig, file, number, label) for number in range(WARM_UP + PAIRS)][WARM_UP:]
    shutil.rmtree(rig.folder, ignore_errors=True)  # the ledger may still be delivered there
    return against_bare(label, pairs, bar)


def _pair(rig: Rig, file: Path, number: int, label: str) -> tuple[float, float]:
    landed = rig.land(file)
    guarded, bare = in_turns(number, rig.guarded, lambda: rig.bare(landed))
    kind = "warm-up" if number < WARM_UP else f"pair {number - WARM_UP + 1}/{PAIRS}"
    print(f"  {label} {kind}: guarded {guarded:.2f} s, bare {bare:.2f} s", flush=True)
    return guarded, bare


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

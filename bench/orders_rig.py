"""Both sides of a figure over orders: a project with its worker, and a bare Delta table."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from bench.orders_project import DATASET, land
from bench.turns import governed, in_turns, submitted
from lakeguard_sdk.client import Client
from openlaketx.worker import SparkWorker


@dataclass
class OrdersRig:
    folder: Path
    client: Client
    worker: SparkWorker
    spark: SparkSession
    landed: int = field(default=0, kw_only=True)

    @property
    def bare_table(self) -> str:
        return str(self.folder / "bare")

    def land(self, file: Path) -> Path:
        self.landed += 1
        return land(self.folder, file, self.landed)

    def read(self, *files: Path) -> DataFrame:
        return self.spark.read.parquet(*map(str, files))

    def guarded(self) -> float:
        """Seconds of a run, from open to complete."""
        return governed(self.worker, submitted(self.client, DATASET))

    def bare(self, *files: Path) -> float:
        """Seconds of Spark reading the files and appending them with delta-spark."""
        start = time.perf_counter()
        self.read(*files).write.format("delta").mode("append").save(self.bare_table)
        return time.perf_counter() - start

    def pair(self, number: int, *files: Path, label: str = "") -> tuple[float, float]:
        """Both sides on the same files, each first in every other round."""
        guarded, bare = in_turns(number, self.guarded, partial(self.bare, *files))
        print(f"  {label} guarded {guarded:.2f} s, bare {bare:.2f} s", flush=True)
        return guarded, bare

    def pairs(self, file: Path, label: str, pairs: int, warm_up: int) -> list[tuple[float, float]]:
        """Pairs after the warm-up, each on a new file of the same rows."""
        found = []
        for number in range(warm_up + pairs):
            kind = "warm-up" if number < warm_up else f"pair {number - warm_up + 1}/{pairs}"
            found.append(self.pair(number, self.land(file), label=f"{label} {kind}:"))
        return found[warm_up:]

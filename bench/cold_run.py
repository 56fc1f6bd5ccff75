"""A first run of the day: ``lakeguard run`` of a few rows, beside a plain PySpark script that
appends the same rows to a Delta table. Both start from nothing, in turns."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from statistics import median

from bench.figures import SCRATCH, Figure
from bench.orders import write_orders
from bench.orders_project import DATASET, land, make_project
from bench.turns import in_turns

ROWS = 100
ROUNDS = 7
WARM_UP = 2
"""The first archives Spark's classes for those that follow."""
BAR = 0.6
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
BARE = """
import os, sys
from pyspark.sql import SparkSession
source, target, jars = sys.argv[1:]
spark = (
    SparkSession.builder.master("local[*]")
    .config("spark.driver.extraClassPath", jars)
    .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", str(os.cpu_count()))
    .getOrCreate()
)
spark.read.parquet(source).write.format("delta").mode("append").save(target)
"""


def cold_run() -> list[Figure]:
    folder, file = SCRATCH / "cold", SCRATCH / "cold.parquet"
    make_project(folder).close()
    write_orders(file, ROWS)
    pairs, idle = [], []
    for number in range(WARM_UP + ROUNDS):
        landed = land(folder, file, number)
        ours, theirs = in_turns(number, partial(_run, folder), partial(_bare, folder, landed))
        nothing_new = _run(folder)
        print(f"  cold run {ours:.2f} s, bare {theirs:.2f} s, idle {nothing_new:.2f} s", flush=True)
        if number >= WARM_UP:
            pairs.append((ours, theirs))
            idle.append(nothing_new)
    return _figures(pairs, idle)


def _figures(pairs: list[tuple[float, float]], idle: list[float]) -> list[Figure]:
    """Both ratios have the bar: the worse has to keep it."""
    ours, theirs = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    label = f"cold run / cold bare append, {ROWS} rows"
    return [
        Figure(f"{label}, medians", median(ours) / median(theirs), "x", BAR),
        Figure(f"{label}, minima", min(ours) / min(theirs), "x", BAR),
        Figure(f"cold run, {ROWS} rows, median", median(ours), "s"),
        Figure(f"cold bare append, {ROWS} rows, median", median(theirs), "s"),
        Figure("run with nothing new, median", median(idle), "s"),
    ]


def _run(folder: Path) -> float:
    return _seconds([sys.executable, "-m", "lakeguard.cli.main", "run", str(DATASET)], folder)


def _bare(folder: Path, landed: Path) -> float:
    target = folder / "bare"
    return _seconds([sys.executable, "-c", BARE, str(landed), str(target), _jars()], folder)


def _jars() -> str:
    import pyspark

    from openlaketx.engine.spark.jars import jars_for

    return os.pathsep.join(str(jar) for jar in jars_for(pyspark.__version__, delta=True))


def _seconds(command: list[str], folder: Path) -> float:
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, env=ENVIRONMENT, check=True, capture_output=True)
    return time.perf_counter() - start

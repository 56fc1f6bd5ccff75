"""Rows of users' code, a Python build and a published frame, against a bare append of them."""

from __future__ import annotations

import shutil
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession

from bench.figures import SCRATCH, Figure
from bench.orders import COLUMNS, RULES, write_orders
from bench.orders_project import DATASET, land, make_project
from bench.turns import against_bare, governed, in_turns, submitted
from lakeguard.registry.load_folder import load_folder
from lakeguard_sdk.client import Client
from lakeguard_sdk.core.dataset_name import DatasetName
from openlaketx import Connection
from openlaketx.engine.spark.session import spark_session
from openlaketx.worker import create_worker

ROWS = 2_000_000
RATIO_BAR = 1.1
SMALL_ROWS = 10
SMALL_RUNS = 15
PAIRS = 9
WARM_UP = 3
BUILD = "Python build"
_TWO_JVMS = (
    "A build runs in a process with a JVM of its own, beside that of the worker, on the same two"
    " cores. Runs of the benchmark differ: 1.05 to 1.15 so far."
)
BUILT, FRAMED = DatasetName("silver.built"), DatasetName("silver.framed")
CODE = 'def build(spark, inputs):\n    return inputs["bronze.orders"]\n'


def run() -> list[Figure]:
    figures = []
    for rows, label in ((ROWS, "2 M rows"), (SMALL_ROWS, f"{SMALL_ROWS} rows")):
        file = SCRATCH / f"code-{rows}.parquet"
        print(f"isolated code: writing {label} of orders", flush=True)
        write_orders(file, rows)
        folder = SCRATCH / f"code-{rows}"
        client = _project(folder, file)
        spark = spark_session({}, delta=True)
        for what, guarded in _sides(client, spark, file).items():
            figures += _figures(f"{what}, {label}", rows, guarded, _bare(spark, file, folder))
        shutil.rmtree(folder, ignore_errors=True)  # the ledger may still be delivered there
    return figures


def _project(folder: Path, file: Path) -> Client:
    """Bronze orders, published once; a dataset built from them in Python, and one of frames."""
    client = make_project(folder)
    columns = "".join(f"  {name}: {{type: '{kind}'}}\n" for name, kind in COLUMNS.items())
    rules = "".join(f'  - "{rule}"\n' for rule in RULES)
    head = f"owner: bench\ndomain: shop\ncolumns:\n{columns}rules:\n{rules}"
    silver = folder / "definitions" / "silver"
    silver.mkdir()
    build = "parents: [bronze.orders]\nbuild: {python: jobs/built.py:build}\nload: {type: FULL}\n"
    (silver / "built.yaml").write_text(f"dataset: {BUILT}\n{build}{head}")
    (silver / "framed.yaml").write_text(
        f"dataset: {FRAMED}\nbuild: frame\nload: {{type: APPEND}}\n{head}"
    )
    (folder / "jobs").mkdir()
    (folder / "jobs" / "built.py").write_text(CODE)
    client.registry.apply(client.registry.plan(load_folder(folder)))
    land(folder, file, 1)
    governed(create_worker(client.for_worker(), spark_options={}), submitted(client, DATASET))
    return client


def _sides(client: Client, spark: SparkSession, file: Path) -> dict[str, Callable[[], float]]:
    worker, tx = create_worker(client.for_worker(), spark_options={}), Connection(client)

    def built() -> float:
        return governed(worker, submitted(client, BUILT))

    def framed() -> float:
        frame = spark.read.parquet(str(file))
        start = time.perf_counter()
        tx.publish(FRAMED, frame).raise_if_blocked()
        return time.perf_counter() - start

    return {BUILD: built, "published frame": framed}


def _bare(spark: SparkSession, file: Path, folder: Path) -> Callable[[], float]:
    def bare() -> float:
        frame = spark.read.parquet(str(file))
        start = time.perf_counter()
        frame.write.format("delta").mode("append").save(str(folder / "bare"))
        return time.perf_counter() - start

    return bare


def _figures(
    label: str, rows: int, guarded: Callable[[], float], bare: Callable[[], float]
) -> list[Figure]:
    """A ratio for many rows; for few, the milliseconds of a run."""
    small = rows == SMALL_ROWS
    pairs = []
    for number in range(WARM_UP + (SMALL_RUNS if small else PAIRS)):
        ours, theirs = in_turns(number, guarded, bare)
        print(f"  {label}: guarded {ours:.2f} s, bare {theirs:.2f} s", flush=True)
        pairs += [(ours, theirs)] if number >= WARM_UP else []
    if small:
        middle = statistics.median(pair[0] for pair in pairs)
        return [Figure(f"guarded run, {label}", middle * 1000, "ms")]
    note = _TWO_JVMS if label.startswith(BUILD) else ""
    return against_bare(label, pairs, RATIO_BAR, note)

"""Ten gigabytes of CSV through a local Spark with a 2 GB heap: it must end; reports how."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from deltalake import DeltaTable
from pyspark import SparkContext

from bench.figures import SCRATCH, Figure
from bench.orders import RULES, write_orders
from bench.orders_project import DATASET, make_project
from bench.turns import governed, submitted
from lakeguard_sdk.client import Client
from lakeguard_sdk.core.dataset_name import parse_address
from openlaketx.engine.delta_table import live_files, open_table
from openlaketx.worker import create_worker

NAME = "large_ingest"
GIGABYTES = 10
HEAP = "2g"
FILES = 10
ROWS_PER_GIGABYTE = 4_950_000
_RULES = tuple(rule for rule in RULES if not rule.startswith("unique"))


def run() -> list[Figure]:
    """The rules of ``guarded_write`` but the unique key, on more bytes than the heap has room."""
    shutil.rmtree(SCRATCH, ignore_errors=True)
    try:
        return _figures(SCRATCH / NAME)
    finally:
        shutil.rmtree(SCRATCH, ignore_errors=True)


def _figures(folder: Path) -> list[Figure]:
    client = make_project(folder, _RULES, form="csv")
    rows = GIGABYTES * ROWS_PER_GIGABYTE // FILES
    for number in range(FILES):
        file = folder / "landing" / f"{number:02d}.csv"
        write_orders(file, rows, number * rows)
        print(f"  {file.name}: {file.stat().st_size / 1e9:.2f} GB", flush=True)
    size = sum(file.stat().st_size for file in (folder / "landing").iterdir())
    worker = create_worker(client.for_worker(), spark_options={"spark.driver.memory": HEAP})
    seconds = governed(worker, submitted(client, DATASET))
    found = sum(file.rows or 0 for file in live_files(_published(client)).values())
    if found != rows * FILES:
        raise SystemExit(f"{found:,} rows were published of {rows * FILES:,}")
    gateway = SparkContext._gateway
    java = gateway.proc.pid if gateway is not None else os.getpid()
    return [
        Figure(f"CSV ingested with a heap of {HEAP}", size / 1e9, "GB"),
        Figure("in", seconds, "s"),
        Figure("most memory of the JVM", _peak(java), "GB"),
        Figure("most memory of Python and DuckDB", _peak(os.getpid()), "GB"),
    ]


def _published(client: Client) -> DeltaTable:
    shown = client.reader.resolve(parse_address(DATASET))
    return open_table(shown.location, shown.commit)


def _peak(process: int) -> float:
    """The most memory that a process ever held."""
    status = Path(f"/proc/{process}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024 / 1e9

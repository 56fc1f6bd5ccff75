"""A checked append to a lake in S3 against an unchecked one, and the requests of both.

The server is the one of ``make cloud``; its access log has a line for every request.
"""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from bench.figures import SCRATCH, Figure
from bench.orders import write_orders
from bench.orders_project import make_project
from bench.orders_rig import OrdersRig
from bench.turns import against_bare
from openlaketx.engine.spark.session import spark_session
from openlaketx.worker import create_worker
from setup.s3_server import build
from tests.support.lakes.s3_server import S3Server, running_server

NAME = "object_store"
ROWS = 2_000_000
SMALL_ROWS = 10
PAIRS = 5
WARM_UP = 2
SMALL_PAIRS = 9
RATIO_BAR = 1.1
REQUESTS_BAR = 1.5
_BUCKET = "bench"
_LEDGER = "/_lakeguard/"


@dataclass
class Rig(OrdersRig):
    """With its lake, and the bare table, in the bucket."""

    log: Path

    @property
    def bare_table(self) -> str:
        return f"s3a://{_BUCKET}/bare-{self.folder.name}"

    def requests(self) -> Counter[str]:
        """So far, of tables and of the ledger."""
        lines = self.log.read_text("utf-8", "replace").splitlines()
        return Counter("ledger" if _LEDGER in line else "tables" for line in lines)


def run() -> list[Figure]:
    shutil.rmtree(SCRATCH, ignore_errors=True)
    build()
    log = SCRATCH / "requests.log"
    SCRATCH.mkdir(parents=True)
    try:
        with running_server(SCRATCH / "s3", access_log=log) as server:
            server.new_bucket(_BUCKET)
            return [*_ratios(_rig("large", server, log)), *_requests(_rig("small", server, log))]
    finally:
        shutil.rmtree(SCRATCH, ignore_errors=True)


def _rig(name: str, server: S3Server, log: Path) -> Rig:
    folder = SCRATCH / name
    settings = server.settings_of(f"s3://{_BUCKET}/{name}")
    client = make_project(folder, settings=settings, path=f"{folder}/landing/*.parquet")
    worker = create_worker(client.for_worker(), spark_options={})
    spark = spark_session(server.options.spark_options(_BUCKET), delta=True)
    return Rig(folder, client, worker, spark, log)


def _ratios(rig: Rig) -> list[Figure]:
    file = SCRATCH / "large.parquet"
    write_orders(file, ROWS)
    label = "2 M rows, S3"
    return against_bare(label, rig.pairs(file, label, PAIRS, WARM_UP), RATIO_BAR)


def _requests(rig: Rig) -> list[Figure]:
    """Of appends of ten rows; what the ledger sends goes on beside them, for many runs at once."""
    file = SCRATCH / "small.parquet"
    write_orders(file, SMALL_ROWS)
    ours: list[int] = []
    theirs: list[int] = []
    pairs = []
    start = rig.requests()
    with rig.client:
        for number in range(WARM_UP + SMALL_PAIRS):
            landed = rig.land(file)
            before = rig.requests()
            guarded = rig.guarded()
            between = rig.requests()
            bare = rig.bare(landed)
            after = rig.requests()
            if number >= WARM_UP:
                ours.append(between["tables"] - before["tables"])
                theirs.append(after["tables"] - between["tables"])
                pairs.append((guarded, bare))
    ledger = (rig.requests()["ledger"] - start["ledger"]) / (WARM_UP + SMALL_PAIRS)
    ratio = sum(ours) / sum(theirs)
    return [
        Figure("requests of a guarded append / a bare one, 10 rows", ratio, "x", REQUESTS_BAR),
        Figure("requests of a guarded append, 10 rows", sum(ours) / len(ours), ""),
        Figure("requests of a bare append, 10 rows", sum(theirs) / len(theirs), ""),
        Figure("requests of the ledger beside them, for each run", ledger, ""),
        *against_bare("10 rows, S3", pairs, None),
    ]

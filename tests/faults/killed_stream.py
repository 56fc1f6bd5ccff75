"""A program that streams a folder into a table, and dies by SIGKILL: ``… FOLDER POINT BATCH``.

It dies when its BATCH-th micro-batch, counted from 1, reaches a named point of the program, or the
table a commit: with ``table.committed``, its process of the gate dies first.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import openlaketx
from lakeguard_sdk.storage import fault_points
from openlaketx.engine.spark.session import spark_session
from openlaketx.notebook.gate_process import GATE

NAME = "silver.events"
COMMITTED = "table.committed"


def main(folder: Path, point: str, batch: int) -> None:
    seen: list[str] = []

    def die(reached: str) -> None:
        seen.extend([reached] if reached == point else [])
        if len(seen) == batch:
            os.kill(os.getpid(), signal.SIGKILL)

    fault_points.listen(die)
    if point == COMMITTED:
        threading.Thread(target=_watch, args=(folder, batch), daemon=True).start()
    spark = spark_session({"spark.master": "local[1]", "spark.sql.shuffle.partitions": "1"})
    reader = spark.readStream.schema("n long").option("maxFilesPerTrigger", 1)
    tx = openlaketx.connect(folder / "lake")
    tx.stream(
        NAME,
        reader.json(str(folder / "landing")),
        checkpoint=folder / "checkpoint",
        trigger={"availableNow": True},
    ).awaitTermination()
    tx.close()


def _watch(folder: Path, batch: int) -> None:
    """Data commits follow the one that creates the table."""
    log = folder / "lake" / "silver" / "events" / "_delta_log"
    wanted = len(list(log.glob("*.json"))) + batch + (0 if log.exists() else 1)
    while len(list(log.glob("*.json"))) < wanted:
        time.sleep(0.001)
    gate = GATE._process
    if gate is not None and gate._process is not None:
        os.killpg(gate._process.pid, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))

"""Rows that a Spark on other machines writes to an object store, each file under its final name.

Spark's own writer renames files, which an object store does by copying them. Delta's does not: its
tasks choose final names, and its log lists the files of the tasks that count. So the rows are
written as a Delta table of their own, in a folder of the run; its log is read and removed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from pyspark.sql import DataFrame

from lakeguard_sdk.storage.storage import Storage, below, join
from openlaketx.engine.locations import spark_path

_FIRST_COMMIT = "_delta_log/00000000000000000000.json"
_OPTIONS = {
    "compression": "snappy",
    # Whatever the session's defaults for new tables are: plain files, whose statistics are counts.
    "delta.columnMapping.mode": "none",
    "delta.dataSkippingNumIndexedCols": "0",
    "delta.randomizeFilePrefixes": "false",
}


def write_to_store(
    frame: DataFrame, location: str, folders: list[str], most_rows: int, storage: Storage
) -> int:
    """The number of rows written; afterwards the folder has their files and nothing else."""
    writer = frame.write.format("delta").mode("error").options(**_OPTIONS)
    if most_rows:
        writer = writer.option("maxRecordsPerFile", most_rows)
    (writer.partitionBy(*folders) if folders else writer).save(spark_path(location))
    rows = dict(_written(storage.read_bytes(join(location, _FIRST_COMMIT))))
    for facts in list(storage.files_under(location)):
        if below(facts.path, location) not in rows:  # the log, and files of tasks that failed
            storage.remove(facts.path, location)
    return sum(rows.values())


def _written(commit: bytes) -> Iterator[tuple[str, int]]:
    """The files of a commit, each with its rows."""
    actions: list[dict[str, Any]] = [json.loads(line) for line in commit.splitlines() if line]
    for action in actions:
        if "add" in action:
            stats = json.loads(action["add"]["stats"])
            yield unquote(action["add"]["path"]), int(stats["numRecords"])

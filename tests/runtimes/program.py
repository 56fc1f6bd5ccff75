"""``python -m tests.runtimes.program SPARK FOLDER``: a user's program, on a Spark of the user's.

SPARK is a master, or a server of Spark Connect. Prints one line of JSON: what it saw.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import openlaketx
from lakeguard_sdk.core.dataset_name import parse_address
from lakeguard_sdk.errors import LakeGuardError
from tests.runtimes.shops import BUILT, DAYS, land

THEIRS = {
    "spark.sql.session.timeZone": "Asia/Kolkata",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.parquet.outputTimestampType": "INT96",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "LEGACY",
    "spark.sql.parquet.datetimeRebaseModeInRead": "LEGACY",
}
MARKS = """SELECT id, timestamp'2024-03-31 02:30:00' AS at, date'1500-02-28' AS julian,
                  cast('none' AS int) AS lenient, string(timestamp'2024-03-31 02:30:00') AS told
           FROM range(3) JOIN mine USING (id)"""


def session(place: str) -> SparkSession:
    if place.startswith("sc://"):
        return SparkSession.builder.remote(place).getOrCreate()
    builder = SparkSession.builder.master(place).config("spark.driver.host", "127.0.0.1")
    return builder.config("spark.ui.enabled", "false").getOrCreate()


def main(place: str, folder: Path) -> dict[str, Any]:
    spark = session(place)
    for key, value in THEIRS.items():
        spark.conf.set(key, value)
    before = settings(spark)
    tx = openlaketx.connect(folder)
    for day in DAYS:
        land(folder, day)
        for name in BUILT:
            tx.run(name, spark).raise_if_blocked()
    spark.range(2).createOrReplaceTempView("mine")
    frame = spark.sql(MARKS)
    published = tx.publish("silver.marks", frame).raise_if_blocked()
    read = tx.read(spark, "silver.marks@v1")
    seen = {
        "spark": spark.version,
        "versions": versions(tx),
        **shown(tx, spark),
        "published": published.version,
        "same": sorted(map(str, read.collect())) == sorted(map(str, frame.collect())),
        "delta": has_delta(spark),
        "before": tx.read(spark, "silver.orders@v1").count(),
        "now": tx.read(spark, "silver.orders").count(),
    }
    seen["changed"] = sorted(before ^ settings(spark))
    seen["views"] = sorted(t.name for t in spark.catalog.listTables() if t.isTemporary)
    spark.stop()
    return seen


def shown(tx: openlaketx.Connection, spark: SparkSession) -> dict[str, Any]:
    """As tables of the session, or why not."""
    try:
        return {"registered": tx.register(spark), "shown": spark.table("silver.orders").count()}
    except LakeGuardError as error:
        return {"refused": error.code}


def settings(spark: SparkSession) -> set[tuple[str, str]]:
    return {(row[0], row[1]) for row in spark.sql("SET").collect()}


def versions(tx: openlaketx.Connection) -> dict[str, int]:
    found = (tx._client.reader.resolve(parse_address(name)) for name in BUILT)
    return {str(item.dataset): item.version for item in found}


def has_delta(spark: SparkSession) -> bool:
    """Whether this Spark could read a Delta table by itself."""
    try:
        spark.read.format("delta").load("/").count()
    except Exception as error:  # noqa: BLE001 - whatever kind of error its Spark has for that
        return "Failed to find" not in str(error)
    return True


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], Path(sys.argv[2]))))  # noqa: T201

"""A program that writes numbers to Kafka and streams them into a table:
``… FOLDER SERVER FIRST ROWS KILLED``.

With KILLED above 0 it dies by SIGKILL when so many micro-batches are published, after the first of
them was reported.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import openlaketx
from lakeguard_sdk.storage import fault_points
from openlaketx.engine.spark.session import spark_session
from openlaketx.notebook import Connection
from setup.kafka_broker import connector_jars

NAME, TOPIC = "silver.events", "events"
ROWS_AT_ONCE = 4


def main(folder: Path, server: str, first: int, rows: int, killed: int) -> None:
    jars = ",".join(map(str, connector_jars()))
    options = {"spark.master": "local[1]", "spark.sql.shuffle.partitions": "1", "spark.jars": jars}
    spark = spark_session(options)
    produce(spark, server, first, rows)
    with openlaketx.connect(folder / "lake") as tx:
        if killed:
            _die_after(killed, tx)
        tx.stream(
            NAME,
            events(spark, server),
            checkpoint=folder / "checkpoint",
            trigger={"availableNow": True},
        ).awaitTermination()


def produce(spark: SparkSession, server: str, first: int, rows: int) -> None:
    values = spark.range(first, first + rows).selectExpr("CAST(id AS STRING) AS value")
    writer = values.write.format("kafka").option("kafka.bootstrap.servers", server)
    writer.option("topic", TOPIC).save()


def events(spark: SparkSession, server: str) -> DataFrame:
    reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", server)
    reader = reader.option("subscribe", TOPIC).option("startingOffsets", "earliest")
    found = reader.option("maxOffsetsPerTrigger", ROWS_AT_ONCE).load()
    return found.selectExpr("CAST(CAST(value AS STRING) AS BIGINT) AS n")


def _die_after(batches: int, tx: Connection) -> None:
    published: list[str] = []

    def die(reached: str) -> None:
        published.extend([reached] if reached == "stream.published" else [])
        if len(published) < batches:
            return
        while not any(each.progress for each in tx._client.reader.status()[0].streams):
            time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGKILL)

    fault_points.listen(die)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:6]))

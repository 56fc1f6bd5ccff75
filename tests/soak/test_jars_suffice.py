"""The two locked jars are all that a local Spark needs for Delta tables."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from openlaketx.engine.spark.jars import delta_jars

pytestmark = [pytest.mark.soak, pytest.mark.spark]

STORY = """
import sys
from pyspark.sql import SparkSession

jars, folder = sys.argv[1:]
settings = {
    "spark.driver.extraClassPath": jars,
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.shuffle.partitions": "1",
    "spark.ui.enabled": "false",
    "spark.jars.ivy": folder + "/no-resolver-needed",
}
builder = SparkSession.builder.master("local[1]")
for name, value in settings.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
spark.range(10).selectExpr("id", "'old' AS v").write.format("delta").save(folder + "/t")
table = f"delta.`{folder}/t`"
spark.sql(
    f"MERGE INTO {table} t USING (SELECT id + 8 AS id, 'new' AS v FROM range(4)) s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
)
now = spark.read.format("delta").load(folder + "/t")
print("now", now.where("v = 'old'").count(), now.where("v = 'new'").count())
before = spark.read.format("delta").option("versionAsOf", 0).load(folder + "/t")
print("before", before.count())
spark.stop()
"""


def test_write_merge_read_and_time_travel(tmp_path: Path) -> None:
    jars = ":".join(str(jar) for jar in delta_jars())
    command = [sys.executable, "-c", STORY, jars, str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["now 8 4", "before 10"], done.stderr[-2000:]

"""A Spark session started by the user: without Delta and without our settings."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lakeguard_sdk.model.definitions import Definitions
from tests.support.projects.projects import make_project

pytestmark = pytest.mark.spark
SCRIPT = """
import sys
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf
import openlaketx

builder = SparkSession.builder.master("local[1]").config("spark.driver.host", "127.0.0.1")
spark = builder.config("spark.ui.enabled", "false").getOrCreate()
before = sorted(map(tuple, spark.sql("SET").collect()))
tx = openlaketx.connect(sys.argv[1])
frame = spark.range(5).repartition(2).select(udf(lambda n: n * 2, "long")("id").alias("n"))
print(tx.publish("silver.numbers", frame).raise_if_blocked().version)
print(tx.register(spark), sorted(row.n for row in spark.table("silver.numbers").collect()))
pinned = tx.read(spark, "silver.numbers@v1")
print(tx.publish("silver.numbers", pinned.where("n > 4")).raise_if_blocked())
print(pinned.count(), spark.table("silver.numbers").count(), tx.register(spark))
print(spark.table("silver.numbers").count())
print(before == sorted(map(tuple, spark.sql("SET").collect())))
"""


def test_a_plain_session_publishes_reads_and_shows(tmp_path: Path) -> None:
    project = tmp_path / "lake"
    make_project(project, Definitions())
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(project)],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=300,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable},
    )
    assert result.returncode == 0, result.stderr[-3000:]
    assert result.stdout.splitlines() == [
        "1",
        "{'silver.numbers': 1} [0, 2, 4, 6, 8]",
        "silver.numbers is published as v2, 2 rows",
        "5 5 {'silver.numbers': 2}",
        "2",
        "True",
    ]
    assert "Exception" not in result.stderr

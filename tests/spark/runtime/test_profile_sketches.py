"""Spark's own functions read the sketches of a profile."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakeguard_sdk.core.dataset_name import Address
from lakeguard_sdk.model.profile import ColumnProfile
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.profile import profile_version
from tests.support.lakes.plans import DATASET
from tests.support.lakes.published_tables import PublishedTable

pytestmark = pytest.mark.spark
ROWS = 5_000


def profiled(folder: Path) -> dict[str, ColumnProfile]:
    columns = (Column(name="n", type="long"), Column(name="t", type="string"))
    table = PublishedTable(folder, TableSchema(columns=columns))
    table.publish([{"n": number, "t": f"text {number % 700}"} for number in range(ROWS)])
    found = profile_version(table.resolve(Address(dataset=DATASET)))
    return {column.column: column for column in found.columns}


def held(column: ColumnProfile, kind: str) -> bytearray:
    return bytearray(b64decode(next(s.data for s in column.sketches if s.kind == kind)))


def test_spark_opens_and_merges_them(spark: SparkSession, tmp_path: Path) -> None:
    """Also merged with sketches that Spark built from the same values: they hash alike."""
    found = profiled(tmp_path)
    frame = spark.createDataFrame(
        [(held(found["n"], "hll"), held(found["t"], "hll"), held(found["n"], "kll"))],
        "n binary, t binary, q binary",
    )
    frame.createOrReplaceTempView("profile_sketches")
    n, t, middle = spark.sql(
        "SELECT hll_sketch_estimate(n), hll_sketch_estimate(t),"
        " kll_sketch_get_quantile_double(q, 0.5D) FROM profile_sketches"
    ).collect()[0]
    assert n == pytest.approx(ROWS, rel=0.05)
    assert t == pytest.approx(700, rel=0.05)
    assert middle == pytest.approx(ROWS / 2, abs=ROWS * 0.03)
    (both,) = spark.sql(
        "SELECT hll_sketch_estimate(hll_union(t, (SELECT hll_sketch_agg(concat('text ', id % 700))"
        f" FROM range({ROWS})))) FROM profile_sketches"
    ).collect()[0]
    assert both == pytest.approx(700, rel=0.05)

"""Every function of Spark is either allowed in builds or refused with a reason."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from lakeguard.registry.sql.spark_functions import AGGREGATES, ALLOWED, REFUSED, SCALARS

pytestmark = pytest.mark.spark


def test_every_function_of_spark_is_listed_once(spark: SparkSession) -> None:
    shown = {row.function for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()}
    named = {name for name in shown if name[:1].isalpha()}
    assert not named - ALLOWED - set(REFUSED)
    assert not ALLOWED & set(REFUSED)
    assert not AGGREGATES & SCALARS

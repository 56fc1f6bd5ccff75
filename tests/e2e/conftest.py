"""Commands run in the test process, on its one Spark session."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession


@pytest.fixture(autouse=True, scope="session")
def warm(spark: SparkSession) -> SparkSession:
    return spark

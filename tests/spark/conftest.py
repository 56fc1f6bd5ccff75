"""One Spark session for the whole test process."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from openlaketx.engine.session import run_session, spark_session


@pytest.fixture(scope="session")
def spark() -> SparkSession:
    """As a worker has it, on two cores, and able to read Delta as other engines do."""
    return spark_session({"spark.master": "local[2]"}, delta=True)


@pytest.fixture
def session(spark: SparkSession) -> SparkSession:
    """What a run works in."""
    return run_session(spark)

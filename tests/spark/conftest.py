"""Fixtures of runs."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from openlaketx.engine.spark.session import run_session


@pytest.fixture
def session(spark: SparkSession) -> SparkSession:
    return run_session(spark)

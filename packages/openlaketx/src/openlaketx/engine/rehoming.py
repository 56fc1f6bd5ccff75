"""A frame in another session of the same Spark: what it means stays, how it is written changes."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.classic.dataframe import DataFrame as ClassicFrame


def in_session(frame: DataFrame, session: SparkSession) -> DataFrame:
    """The rows of ``frame`` as its own session understands them, written as ``session`` writes.

    Its plan is analysed already: time zone, arithmetic and names were settled where it was made.
    """
    java: Any = frame._jdf
    dataset: Any = session._jvm.org.apache.spark.sql.classic.Dataset  # type: ignore[union-attr]
    plan = java.queryExecution().analyzed()
    return ClassicFrame(dataset.ofRows(session._jsparkSession, plan), session)


def is_here(thing: object) -> bool:
    """Whether a frame or session is of a Spark in this process, and not behind Spark Connect."""
    return isinstance(thing, ClassicFrame | SparkSession)

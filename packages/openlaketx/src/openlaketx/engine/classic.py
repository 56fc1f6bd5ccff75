"""Spark in this process: frames are analysed when they are made, and Java is within reach."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, cast

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from openlaketx.engine.job_group import job_group, stop_group
from openlaketx.engine.runtime import Counted, NotAQuery, is_metastore
from openlaketx.engine.written_rows import counting

_LOGICAL = "org.apache.spark.sql.catalyst.plans.logical."
_NOT_A_QUERY = ("Command", "ParsedStatement", "CompoundPlanStatement")


class ClassicSpark:
    """From 3.5 on; what 4.0 moved to another place is looked for in both."""

    def child(self, spark: SparkSession) -> SparkSession:
        return spark.newSession()

    def close(self, child: SparkSession) -> None:
        """Goes with its last frame."""

    def has_catalogue_of_others(self, spark: SparkSession) -> bool:
        return is_metastore(spark)

    def in_session(self, frame: DataFrame, session: SparkSession) -> DataFrame:
        plan = _java(frame).queryExecution().analyzed()
        dataset = _dataset(session).ofRows(session._jsparkSession, plan)
        return cast(DataFrame, _frame_class()(dataset, session))

    def settled(self, frame: DataFrame) -> DataFrame:
        return frame

    def query(self, session: SparkSession, text: str) -> DataFrame:
        plan = session._jsparkSession.sessionState().sqlParser().parsePlan(text)
        if any(_is_a(session, plan, _LOGICAL + kind) for kind in _NOT_A_QUERY):
            raise NotAQuery()
        return session.sql(text)

    def job_group(self, session: SparkSession, name: str) -> AbstractContextManager[None]:
        return job_group(session, name)

    def stop_group(self, session: SparkSession, name: str) -> None:
        stop_group(session, name)

    def rebalanced(self, frame: DataFrame, name: str) -> DataFrame:
        """Python's ``hint`` takes a column from 4.0 on; Java's takes what a column is made of."""
        if _frame_class() is not DataFrame:
            return frame.hint("rebalance", F.col(name))
        java: Any = frame
        column: Any = F.col(name)
        hinted = java._jdf.hint("rebalance", java._jseq([column._jc.expr()]))
        return cast(DataFrame, _frame_class()(hinted, frame.sparkSession))

    def counting(self, frame: DataFrame, name: str) -> AbstractContextManager[Counted]:
        return counting(frame, name)


def _java(frame: Any) -> Any:
    return frame._jdf


def _frame_class() -> Any:
    try:
        from pyspark.sql.classic.dataframe import DataFrame as ClassicFrame
    except ImportError:  # before 4.0 there was no other kind
        return DataFrame
    return ClassicFrame


def _dataset(session: SparkSession) -> Any:
    sql: Any = session._jvm.org.apache.spark.sql  # type: ignore[union-attr]
    return sql.Dataset if _frame_class() is DataFrame else sql.classic.Dataset


def _is_a(session: SparkSession, plan: Any, name: str) -> bool:
    loader = plan.getClass().getClassLoader()
    java = session._sc._jvm.java.lang.Class  # type: ignore[union-attr]
    try:
        return bool(java.forName(name, False, loader).isInstance(plan))
    except Py4JJavaError:  # this Spark has no such statements
        return False

"""One SELECT over views of the run's own session, where nothing else has a name."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession

from lakeguard_sdk.errors import BuildFailed
from lakeguard_sdk.schema import TableSchema
from openlaketx.engine.spark_errors import SPARK_ERRORS, reason
from openlaketx.engine.spark_types import UnsupportedType, live_schema
from openlaketx.extract.batch import name_problem

_LOGICAL = "org.apache.spark.sql.catalyst.plans.logical."
_NOT_A_QUERY = ("Command", "ParsedStatement", "CompoundPlanStatement")


def query(session: SparkSession, text: str, dataset: str, whose: str = "") -> DataFrame:
    """The frame of the text; parsed before anything runs, so that only a query does."""
    try:
        if _is_a(session, _parse(session, text), _NOT_A_QUERY):
            raise BuildFailed(dataset=dataset, reason=f"{whose}the text is not a query")
        return session.sql(text)
    except SPARK_ERRORS as error:
        raise BuildFailed(dataset=dataset, reason=f"{whose}{reason(error)}") from None


def columns_of(frame: DataFrame, dataset: str) -> TableSchema:
    """What the frame holds; a column that no dataset can have fails the run."""
    try:
        live = live_schema(frame.schema)
    except UnsupportedType as error:
        raise BuildFailed(dataset=dataset, reason=str(error)) from None
    if problem := name_problem(live.names):
        raise BuildFailed(dataset=dataset, reason=problem)
    return live


def _parse(session: SparkSession, text: str) -> Any:
    return session._jsparkSession.sessionState().sqlParser().parsePlan(text)


def _is_a(session: SparkSession, plan: Any, kinds: tuple[str, ...]) -> bool:
    loader = plan.getClass().getClassLoader()
    java = session._sc._jvm.java.lang.Class  # type: ignore[union-attr]
    return any(java.forName(_LOGICAL + kind, False, loader).isInstance(plan) for kind in kinds)

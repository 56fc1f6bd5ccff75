"""One SELECT over views of the run's own session, where nothing else has a name."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from lakeguard_sdk.errors import BuildFailed
from lakeguard_sdk.types.schema import TableSchema
from openlaketx.engine.spark.errors import SPARK_ERRORS, reason
from openlaketx.engine.spark.runtime import NotAQuery, runtime_of
from openlaketx.engine.spark.types import UnsupportedType, live_schema
from openlaketx.extract.batch import name_problem


def query(session: SparkSession, text: str, dataset: str, whose: str = "") -> DataFrame:
    """The frame of the text; only a query runs. Its views are not needed any more."""
    runtime = runtime_of(session)
    try:
        return runtime.settled(runtime.query(session, text))
    except NotAQuery:
        raise BuildFailed(dataset=dataset, reason=f"{whose}the text is not a query") from None
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

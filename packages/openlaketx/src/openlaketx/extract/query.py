"""One SELECT over the views of the run's session."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from types import MappingProxyType

from pyspark.sql import DataFrame, SparkSession

from lakeguard_sdk.errors import BuildFailed
from lakeguard_sdk.model.run import RUN_TIME
from lakeguard_sdk.types.schema import TableSchema
from openlaketx.engine.spark.errors import SPARK_ERRORS, reason
from openlaketx.engine.spark.runtime import NotAQuery, runtime_of
from openlaketx.engine.spark.types import UnsupportedType, live_schema
from openlaketx.extract.batch import name_problem

DATE = "date"
"""The parameter with the logical date of a run."""
_CLOCK = (
    "a text or parameter such as 'now' becomes a date or timestamp, which is the time of the query;"
    " use current_timestamp() or current_date()"
)


def query(
    session: SparkSession,
    text: str,
    dataset: str,
    whose: str = "",
    parameters: Mapping[str, str | date] = MappingProxyType({}),
    as_of: datetime | None = None,
) -> DataFrame:
    """The frame of a query; other statements are rejected. Its views may be dropped afterwards.

    A query that Spark would give its own time is rejected too: it could not be repeated.

    Spark binds ``parameters`` to ``:name``, and ``as_of`` to ``RUN_TIME``, as typed literals; no
    value becomes part of the text.
    """
    runtime = runtime_of(session)
    if as_of is not None and f":{RUN_TIME}" in text:
        parameters = {**parameters, RUN_TIME: as_of}
    try:
        frame = runtime.query(session, text, parameters)
        reads_clock = runtime.reads_clock(frame)
        frame = runtime.settled(frame)
    except NotAQuery:
        raise BuildFailed(dataset=dataset, reason=f"{whose}the statement is not a query") from None
    except SPARK_ERRORS as error:
        raise BuildFailed(dataset=dataset, reason=f"{whose}{reason(error)}") from None
    if reads_clock:
        raise BuildFailed(dataset=dataset, reason=f"{whose}{_CLOCK}")
    return frame


def typed_parameters(parameters: Mapping[str, str]) -> dict[str, str | date]:
    """Texts, and ``date`` as a date."""
    return {
        name: date.fromisoformat(text) if name == DATE else text
        for name, text in parameters.items()
    }


def columns_of(frame: DataFrame, dataset: str) -> TableSchema:
    """Schema of the frame; fails the run for an unsupported column."""
    try:
        live = live_schema(frame.schema)
    except UnsupportedType as error:
        raise BuildFailed(dataset=dataset, reason=str(error)) from None
    if problem := name_problem(live.names):
        raise BuildFailed(dataset=dataset, reason=problem)
    return live

"""A frame that a program hands in, of whatever session and settings."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from lakeguard_sdk.errors import BuildFailed
from openlaketx.engine.python_errors import worker_error
from openlaketx.engine.runtime import runtime_of
from openlaketx.engine.spark_errors import reason
from openlaketx.extract.batch import Batch
from openlaketx.extract.query import columns_of


def read_frame(session: SparkSession, given: DataFrame | None, dataset: str) -> Batch:
    """The rows that the program sees, in the run's own session."""
    if given is None:
        raise BuildFailed(dataset=dataset, reason="a program publishes it: tx.publish")
    frame = runtime_of(given).in_session(given, session)
    return Batch(
        frame=frame,
        live=columns_of(frame, dataset),
        inputs=(),
        position=None,
        explain=lambda error: BuildFailed(dataset=dataset, reason=_words(error)),
        confirm=lambda: None,
    )


def _words(error: Exception) -> str:
    told = worker_error(error, lambda file: "pyspark" not in file)
    if told is None:
        return reason(error)
    return f"{told.message} ({told.file}, line {told.line})" if told.file else told.message

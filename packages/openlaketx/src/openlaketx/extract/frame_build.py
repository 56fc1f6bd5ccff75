"""A frame that a program hands in, of whatever session and settings."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from lakeguard_sdk.errors import BuildFailed
from openlaketx.engine.rehoming import in_session
from openlaketx.engine.spark_errors import reason
from openlaketx.extract.batch import Batch
from openlaketx.extract.query import columns_of


def read_frame(session: SparkSession, given: DataFrame | None, dataset: str) -> Batch:
    """The rows that the program sees, in the run's own session."""
    if given is None:
        raise BuildFailed(dataset=dataset, reason="a program publishes it: tx.publish")
    frame = in_session(given, session)
    return Batch(
        frame=frame,
        live=columns_of(frame, dataset),
        inputs=(),
        position=None,
        explain=lambda error: BuildFailed(dataset=dataset, reason=reason(error)),
        confirm=lambda: None,
    )

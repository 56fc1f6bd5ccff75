"""A SELECT over pinned inputs, in a session where nothing else has a name."""

from __future__ import annotations

from pyspark.sql import SparkSession

from lakeguard_sdk.errors import BuildFailed
from lakeguard_sdk.run import SqlBuild
from lakeguard_sdk.words import LoadType
from openlaketx.engine.spark_errors import reason
from openlaketx.extract.batch import Batch
from openlaketx.extract.inputs import pinned_frames
from openlaketx.extract.query import columns_of, query


def read_sql(
    session: SparkSession, build: SqlBuild, dataset: str, load: LoadType = LoadType.APPEND
) -> Batch | None:
    """The frame of the build; None where an incremental input gained no row."""
    frames = pinned_frames(session, build.views, dataset, load)
    if frames is None:
        return None
    for name, pinned in frames.items():
        pinned.createOrReplaceTempView(name)
    frame = query(session, build.text, dataset)
    for name in frames:
        session.catalog.dropTempView(name)
    return Batch(
        frame=frame,
        live=columns_of(frame, dataset),
        inputs=tuple(dict.fromkeys(pin.input for pin in build.views.values())),
        position=None,
        explain=lambda error: BuildFailed(dataset=dataset, reason=reason(error)),
        confirm=lambda: None,
    )

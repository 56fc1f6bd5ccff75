"""A SELECT over pinned inputs, in a session where nothing else has a name."""

from __future__ import annotations

from pyspark.sql import SparkSession

from lakeguard_sdk.errors import BuildFailed
from lakeguard_sdk.run import SqlBuild
from openlaketx.engine.spark_errors import reason
from openlaketx.extract.batch import Batch
from openlaketx.extract.pinned_input import files_to_read, read_pinned
from openlaketx.extract.query import columns_of, query


def read_sql(session: SparkSession, build: SqlBuild, dataset: str) -> Batch | None:
    """The frame of the build; None where an incremental input gained no row."""
    files = {name: files_to_read(pin, dataset) for name, pin in build.views.items()}
    gained = [files[name] for name, pin in build.views.items() if pin.since is not None]
    if gained and not any(gained):
        return None
    for name, pin in build.views.items():
        read_pinned(session, pin, files[name]).createOrReplaceTempView(name)
    frame = query(session, build.text, dataset)
    for name in build.views:
        session.catalog.dropTempView(name)
    return Batch(
        frame=frame,
        live=columns_of(frame, dataset),
        inputs=tuple(dict.fromkeys(pin.input for pin in build.views.values())),
        position=None,
        explain=lambda error: BuildFailed(dataset=dataset, reason=reason(error)),
        confirm=lambda: None,
    )

"""What a source has for a run, whatever kind of source it is."""

from __future__ import annotations

from pyspark.sql import SparkSession

from lakeguard_sdk.run import RunPlan, SourceBuild
from lakeguard_sdk.storage import Storage
from lakeguard_sdk.words import SourceFormat
from openlaketx.extract.batch import Batch
from openlaketx.extract.csv_source import read_csv
from openlaketx.extract.jdbc_source import read_jdbc
from openlaketx.extract.manifest import select_files
from openlaketx.extract.parquet_source import read_parquet


def read_source(
    plan: RunPlan, build: SourceBuild, session: SparkSession, lake: str, storage: Storage
) -> Batch | None:
    """The batch, not yet computed; None where the source has nothing new."""
    if build.format is SourceFormat.JDBC:
        return read_jdbc(session, build, plan.dataset)
    selection = select_files(
        source=build.source,
        dataset=plan.dataset,
        pattern=build.path,
        root=lake,
        load=plan.load.type,
        position=build.position,
        storage=storage,
    )
    if not selection.files:
        return None
    if build.format is SourceFormat.CSV:
        return read_csv(session, build, selection, storage)
    return read_parquet(session, build, selection, storage)

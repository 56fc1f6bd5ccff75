"""The way in: what a plan's build says to read."""

from __future__ import annotations

from pyspark.sql import SparkSession

from lakeguard_sdk.errors import BuildFailed
from lakeguard_sdk.run import RunPlan, SourceBuild, SqlBuild
from lakeguard_sdk.storage import Storage
from lakeguard_sdk.words import SourceFormat
from openlaketx.extract.batch import Batch
from openlaketx.extract.csv_source import read_csv
from openlaketx.extract.manifest import select_files
from openlaketx.extract.parquet_source import read_parquet
from openlaketx.extract.sql_build import read_sql


def extract(plan: RunPlan, session: SparkSession, lake: str, storage: Storage) -> Batch | None:
    """The batch of a run, not yet computed; None where there is nothing new to read."""
    if isinstance(plan.build, SourceBuild):
        return _from_source(plan, plan.build, session, lake, storage)
    if isinstance(plan.build, SqlBuild):
        return read_sql(session, plan.build, plan.dataset)
    raise BuildFailed(dataset=plan.dataset, reason="a program publishes it: tx.publish")


def _from_source(
    plan: RunPlan, build: SourceBuild, session: SparkSession, lake: str, storage: Storage
) -> Batch | None:
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

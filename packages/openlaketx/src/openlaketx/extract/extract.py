"""The way in: what a plan's build says to read."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from lakeguard_sdk.quarantine import QuarantineBuild
from lakeguard_sdk.run import PythonBuild, RunPlan, SourceBuild, SqlBuild
from lakeguard_sdk.storage import Storage, local_path
from openlaketx.extract.batch import Batch
from openlaketx.extract.frame_build import read_frame
from openlaketx.extract.python_build import read_python
from openlaketx.extract.quarantine_build import read_kept
from openlaketx.extract.source_build import asks_for_order, read_source
from openlaketx.extract.sql_build import read_sql


def extract(
    plan: RunPlan,
    session: SparkSession,
    lake: str,
    storage: Storage,
    *,
    project: str = "",
    frame: DataFrame | None = None,
) -> Batch | None:
    """The batch of a run, not yet computed; None where there is nothing new to read.

    Modules lie in the ``project``, else in the lake; ``frame`` is what a program publishes.
    """
    if isinstance(plan.build, SourceBuild):
        return read_source(plan, plan.build, session, lake, storage)
    if isinstance(plan.build, SqlBuild):
        return read_sql(session, plan.build, plan.dataset, plan.load.type)
    if isinstance(plan.build, PythonBuild):
        place = project or local_path(lake)
        return read_python(session, plan.build, plan.dataset, place, plan.load.type)
    if isinstance(plan.build, QuarantineBuild):
        ordered = len(plan.build.files) > 1 and asks_for_order(plan)
        return read_kept(session, plan.build, plan.dataset, lake, storage, ordered=ordered)
    return read_frame(session, frame, plan.dataset)

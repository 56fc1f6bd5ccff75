"""The target's transform: one SELECT over ``batch``, applied to the extracted rows."""

from __future__ import annotations

from dataclasses import replace

from lakeguard_sdk.errors import BuildFailed, LakeGuardError
from lakeguard_sdk.model.quarantine import QuarantineBuild
from lakeguard_sdk.model.run import RunPlan
from openlaketx.engine.spark.errors import condition, reason
from openlaketx.extract.batch import Batch
from openlaketx.extract.files.file_order import ROW_FILE
from openlaketx.extract.query import columns_of, query

BATCH = "batch"
_PREFIX = "the transform of its target: "
_NOT_OF_THE_TRANSFORM = ("FAILED_READ_FILE", "MALFORMED", "USER_RAISED_EXCEPTION")


def transform(batch: Batch, plan: RunPlan) -> Batch:
    """The transformed batch. Replayed quarantine rows are returned as they are: they were
    transformed before.

    ``batch`` is the only view in the session, so the query can read nothing else. The file of a row
    is unknown afterwards.
    """
    if not plan.transform or isinstance(plan.build, QuarantineBuild):
        return batch
    session = batch.frame.sparkSession
    batch.frame.drop(ROW_FILE).createOrReplaceTempView(BATCH)
    frame = query(session, plan.transform, plan.dataset, _PREFIX, as_of=plan.as_of)
    session.catalog.dropTempView(BATCH)

    def explain(error: Exception) -> LakeGuardError:
        if condition(error).startswith(_NOT_OF_THE_TRANSFORM):
            return batch.explain(error)
        message = f"{_PREFIX}{reason(error)}"
        return BuildFailed(dataset=plan.dataset, reason=message)

    live = columns_of(frame, plan.dataset)
    return replace(batch, frame=frame, live=live, explain=explain, order=(), texts=None)

"""Writing the candidate: one pass over the data, one folder per attempt."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakeguard_sdk import faultpoints
from lakeguard_sdk.errors import LakeGuardError, StagingFailed
from lakeguard_sdk.partitions import PARTITION_KEY
from lakeguard_sdk.run import RunPlan
from lakeguard_sdk.storage import Storage, join, local_path
from openlaketx.engine.spark_errors import SPARK_ERRORS, reason
from openlaketx.engine.spark_types import quoted_name
from openlaketx.extract import Batch
from openlaketx.stage.candidate import Candidate, collect
from openlaketx.stage.written_rows import counting

_OPTIONS = {
    "compression": "snappy",
    "mapreduce.fileoutputcommitter.algorithm.version": "1",
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "true",
}


def stage(frame: DataFrame, batch: Batch, plan: RunPlan, storage: Storage) -> Candidate:
    """The files of the run, each whole and as declared, with as many rows as Spark wrote."""
    folder = join(plan.location, plan.staging)
    if storage.exists(folder):
        raise StagingFailed(dataset=plan.dataset, reason=f"{plan.staging} is already there")
    with counting(frame.sparkSession, plan.ticket.run_id) as written:
        try:
            _write(frame, plan, local_path(folder))
        except SPARK_ERRORS as error:
            raise _explained(error, folder, batch, plan) from None
    batch.confirm()
    candidate = collect(
        plan.location, plan.staging, plan.declared, plan.dataset, storage, plan.partition_by
    )
    told = written.rows()
    if told is not None and told != candidate.rows:
        raise StagingFailed(
            dataset=plan.dataset,
            reason=f"Spark wrote {told} rows, the files hold {candidate.rows}",
        )
    faultpoints.reached("stage.written")
    return candidate


def _write(frame: DataFrame, plan: RunPlan, folder: str) -> None:
    """Partitioned by a hash: folder names have no room for every value, and no case or NULL.

    Should two partitions ever share a hash, the footers tell and the run fails.
    """
    if not plan.partition_by:
        frame.write.mode("errorifexists").options(**_OPTIONS).parquet(folder)
        return
    values = [frame[quoted_name(name)] for name in plan.partition_by]
    hashed = F.hex(F.xxhash64(*(part for value in values for part in (value, value.isNull()))))
    keyed = frame.withColumn(PARTITION_KEY, hashed).hint("rebalance", F.col(PARTITION_KEY))
    keyed.write.mode("errorifexists").options(**_OPTIONS).partitionBy(PARTITION_KEY).parquet(folder)


def _explained(error: Exception, folder: str, batch: Batch, plan: RunPlan) -> LakeGuardError:
    if local_path(folder) in str(error):
        return StagingFailed(dataset=plan.dataset, reason=reason(error))
    return batch.explain(error)

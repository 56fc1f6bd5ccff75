"""Copy-on-write: files with changed rows are rewritten."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import and_

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakeguard_sdk.errors import StagingFailed
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.storage.storage import Storage
from openlaketx.engine.spark.types import quoted_name
from openlaketx.loads.incoming_batch import small_side
from openlaketx.loads.spark_failures import explain_load
from openlaketx.loads.table_state import FILE, Existing, read_existing
from openlaketx.stage import Candidate, write_files

_NEW = "lg_new_"
_HIT = "lg_hit"
REWRITTEN = "rewritten"


def rewrite(
    session: SparkSession,
    plan: RunPlan,
    existing: Existing,
    touched: Iterable[str],
    keys: tuple[str, ...],
    updated: DataFrame,
    deleted: DataFrame,
    storage: Storage,
    *,
    updates: int,
    deletes: int,
) -> Candidate:
    """Rewrite the touched files with updates applied and deleted rows removed.

    Updated rows keep their position, so that a clustered table stays clustered.
    """
    paths = set(touched)
    rows = read_existing(session, plan, existing, paths).drop(FILE)
    if updates:
        rows = _updated(rows, plan, keys, updated, updates)
    if deletes:
        rows = rows.join(small_side(deleted, deletes), list(keys), "left_anti")
    rows = rows.select(*(F.col(quoted_name(name)) for name in plan.table_schema.names))
    written = write_files(
        rows, plan, plan.table_schema, explain_load(plan), storage, folder=REWRITTEN
    )
    wanted = sum(existing.files[path].rows or 0 for path in paths) - deletes
    if written.rows != wanted:
        raise StagingFailed(
            dataset=plan.dataset,
            reason=f"rewritten files have {written.rows} rows instead of {wanted}:"
            f" the table has several rows of one key ({', '.join(keys)})",
        )
    return written


def _updated(
    rows: DataFrame, plan: RunPlan, keys: tuple[str, ...], updated: DataFrame, updates: int
) -> DataFrame:
    names = plan.table_schema.names
    fresh = updated.select(
        *(F.col(quoted_name(name)).alias(_NEW + name) for name in names), F.lit(True).alias(_HIT)
    )
    same = reduce(
        and_, (F.col(quoted_name(name)) == F.col(quoted_name(_NEW + name)) for name in keys)
    )
    joined = rows.join(small_side(fresh, updates), same, "left")
    return joined.select(
        *(
            F.when(F.col(_HIT), F.col(quoted_name(_NEW + name)))
            .otherwise(F.col(quoted_name(name)))
            .alias(name)
            for name in names
        )
    )

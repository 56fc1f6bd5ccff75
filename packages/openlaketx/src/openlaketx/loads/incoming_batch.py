"""The staged batch of a keyed load: row count, distinct keys and duplicates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakeguard_sdk.errors import LoadFailed
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.storage.storage import join
from lakeguard_sdk.types.schema import TableSchema
from openlaketx.conform.latest_rows import has_ties, latest
from openlaketx.engine.locations import spark_read_path
from openlaketx.engine.spark.types import quoted_name, spark_schema
from openlaketx.loads.spark_failures import explaining
from openlaketx.loads.staged_batch import incoming_schema
from openlaketx.stage import Candidate

_FEW = 1_000_000


@dataclass(frozen=True)
class Incoming:
    """The last row of each key."""

    frame: DataFrame
    rows: int
    duplicates: int


def read_incoming(
    session: SparkSession,
    staged: Candidate,
    plan: RunPlan,
    keys: tuple[str, ...],
    with_places: Callable[[], DataFrame] | None = None,
) -> Incoming:
    """Read the staged rows again; a NULL in a key fails the run.

    For ties, ``with_places`` returns the same rows with the rank of their files.
    """
    schema = incoming_schema(plan)
    frame = read_staged(session, staged, schema)
    with explaining(plan):
        total, different, without = _count(frame, keys)
    if without:
        raise LoadFailed(
            dataset=plan.dataset,
            reason=f"{without} of {total} rows have NULL in their key ({', '.join(keys)})",
        )
    if total > different:
        with explaining(plan):
            ties = with_places and has_ties(frame, schema, keys, plan.load.order_by)
        if with_places and ties:
            frame = with_places()
        frame = latest(frame, schema, keys, plan.load.order_by)
    return Incoming(frame, different, total - different)


def read_staged(session: SparkSession, staged: Candidate, schema: TableSchema) -> DataFrame:
    """The rows of staged files; an empty frame for no files."""
    if not staged.files:
        return session.createDataFrame([], spark_schema(schema))
    paths = [spark_read_path(join(staged.location, file.path)) for file in staged.files]
    return session.read.schema(spark_schema(schema)).parquet(*paths)


def small_side(frame: DataFrame, rows: int) -> DataFrame:
    """The frame with a broadcast hint if it is small, which avoids a shuffle."""
    return F.broadcast(frame) if rows <= _FEW else frame


def _count(frame: DataFrame, keys: tuple[str, ...]) -> tuple[int, int, int]:
    """Row count, distinct keys, and rows with a NULL in the key."""
    columns = [F.col(quoted_name(name)) for name in keys]
    some_null = F.greatest(*(column.isNull() for column in columns), F.lit(False))
    by_key = frame.groupBy(*columns).agg(F.count(F.lit(1)).alias("lg_n"))
    row = by_key.agg(
        F.coalesce(F.sum("lg_n"), F.lit(0)),
        F.count(F.lit(1)),
        F.coalesce(F.sum(F.when(some_null, F.col("lg_n"))), F.lit(0)),
    ).first()
    return (0, 0, 0) if row is None else (int(row[0]), int(row[1]), int(row[2]))

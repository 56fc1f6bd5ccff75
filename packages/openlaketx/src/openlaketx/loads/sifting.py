"""What a load is told of rows that do not go on with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from lakeguard_sdk.quarantine import FIRST_SEEN, KEPT_COLUMNS, QuarantineBuild
from lakeguard_sdk.run import RunPlan
from lakeguard_sdk.schema import Column, TableSchema
from openlaketx.engine.places import spark_read_path
from openlaketx.engine.spark_types import quoted_name
from openlaketx.loads.existing import Existing
from openlaketx.stage import Candidate


@dataclass(frozen=True)
class Sifted:
    """Files with the rows that go on, and where those lie that do not."""

    kept: Candidate
    aside: tuple[str, ...] = ()


Sift = Callable[[Candidate, TableSchema, Existing], Sifted]
"""Takes rows that fail a rule out of what was staged, before they meet the table's."""


def nothing_aside(staged: Candidate, schema: TableSchema, existing: Existing) -> Sifted:
    """Every row goes on."""
    return Sifted(staged)


def keys_aside(session: SparkSession, sifted: Sifted, plan: RunPlan) -> DataFrame | None:
    """The keys that rows of a batch have which do not go on; None where all rows do."""
    if not sifted.aside:
        return None
    rows = session.read.parquet(*map(spark_read_path, sifted.aside))
    keys = [rows[quoted_name(name)] for name in plan.load.keys]
    return rows.select(*keys).dropna().distinct()


def carries_time(plan: RunPlan) -> bool:
    """Whether each row of the batch comes with the time when it was first set aside."""
    return isinstance(plan.build, QuarantineBuild)


def with_time(schema: TableSchema, plan: RunPlan) -> TableSchema:
    """The columns to stage: those of the schema, and that time."""
    if not carries_time(plan):
        return schema
    time = Column(name=FIRST_SEEN, type=KEPT_COLUMNS[FIRST_SEEN])
    return TableSchema(columns=(*schema.columns, time))


def time_last(frame: DataFrame, plan: RunPlan) -> DataFrame:
    """The same frame; that time, if it is there, stands behind all columns of the table."""
    if not carries_time(plan):
        return frame
    others = (quoted_name(name) for name in frame.columns if name != FIRST_SEEN)
    return frame.select(*others, FIRST_SEEN)

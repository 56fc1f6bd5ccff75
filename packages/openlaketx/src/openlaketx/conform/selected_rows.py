"""Selects the extracted rows that a run loads: by watermark or by window."""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakeguard_sdk.core.enums import (
    LateRows,
    LoadType,
    NullWatermark,
    SourceFormat,
)
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.quarantine import QuarantineBuild
from lakeguard_sdk.model.run import RunPlan, SourceBuild
from lakeguard_sdk.model.windows import bound_text, lower_bound, watermark_value, window_bounds
from openlaketx.engine.shown_values import refusal
from openlaketx.engine.spark.types import quoted_name, spark_type


def chosen_rows(frame: DataFrame, plan: RunPlan) -> DataFrame:
    """Rows in the window of a backfill, else rows that are new by watermark. Replayed quarantine
    rows were selected before."""
    if isinstance(plan.build, QuarantineBuild):
        return frame
    if plan.window is not None:
        return frame.filter(in_window(plan) & _was_read(plan))
    if not plan.load.watermark:
        return frame
    frame = _without_nulls(frame, plan.load)
    if plan.watermark is None or (reads_files(plan) and plan.load.late is LateRows.LOAD):
        return frame
    value = F.col(quoted_name(plan.load.watermark))
    new = _is_new(value, plan)
    return frame.filter(new | value.isNull() if _loads_nulls(plan.load) else new)


def late_rows(frame: DataFrame, plan: RunPlan) -> int:
    """Number of rows in new files that are below the watermark and skipped."""
    skipped = plan.load.late is LateRows.SKIP and reads_files(plan) and plan.window is None
    if not skipped or not plan.load.watermark or plan.watermark is None:
        return 0
    value = F.col(quoted_name(plan.load.watermark))
    return frame.filter(value.isNotNull() & ~_is_new(value, plan)).count()


def reads_files(plan: RunPlan) -> bool:
    """Whether new rows are found by the file manifest instead of the watermark."""
    build = plan.build
    return isinstance(build, SourceBuild) and build.format is not SourceFormat.JDBC


def in_window(plan: RunPlan) -> SparkColumn:
    """Rows in the window of the backfill; never NULL ones."""
    if plan.window is None:
        raise ValueError("the run has no window")
    data_type = str(plan.declared.type_of(plan.window.column))
    start, end = window_bounds(plan.window, data_type)
    value = F.col(quoted_name(plan.window.column))
    inside = (value >= _literal(start, data_type)) & (value <= _literal(end, data_type))
    return F.coalesce(inside, F.lit(False))


def _was_read(plan: RunPlan) -> SparkColumn:
    """A backfill of an APPEND stops where earlier runs stopped: the next run reads the rest."""
    by_value = plan.load.watermark and plan.watermark is not None and not reads_files(plan)
    if plan.load.type is not LoadType.APPEND or not by_value:
        return F.lit(True)
    data_type = str(plan.declared.type_of(plan.load.watermark))
    read = _literal(watermark_value(str(plan.watermark), data_type), data_type)
    return F.coalesce(F.col(quoted_name(plan.load.watermark)) <= read, F.lit(False))


def _is_new(value: SparkColumn, plan: RunPlan) -> SparkColumn:
    bound = _literal(lower_bound(plan), str(plan.declared.type_of(plan.load.watermark)))
    return value >= bound if plan.load.inclusive else value > bound


def _literal(value: Any, data_type: str) -> SparkColumn:
    """From text, so that the time zone of this process has no effect."""
    return F.lit(bound_text(value)).cast(spark_type(data_type))


def _without_nulls(frame: DataFrame, load: Load) -> DataFrame:
    value = F.col(quoted_name(load.watermark))
    match load.null_watermark:
        case NullWatermark.LOAD:
            return frame
        case NullWatermark.SKIP:
            return frame.filter(value.isNotNull())
    refused = refusal(f"a row has NULL in the watermark column {load.watermark}")
    return frame.filter(F.when(value.isNull(), refused.cast("boolean")).otherwise(F.lit(True)))


def _loads_nulls(load: Load) -> bool:
    return load.null_watermark is NullWatermark.LOAD

"""Deduplication: the last row of each key. Ties between different rows fail the run."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from lakeguard_sdk.types.schema import TableSchema
from openlaketx.conform.hashes import content_hash
from openlaketx.engine.shown_values import refusal, shown
from openlaketx.engine.spark.types import quoted_name
from openlaketx.extract.files.file_order import PLACE

_RANK, _LOW, _HIGH, _FIRST = "lg_rank", "lg_low", "lg_high", "lg_first"


def latest(
    frame: DataFrame, schema: TableSchema, keys: Sequence[str], order_by: Sequence[str]
) -> DataFrame:
    """The last row of every key. Equal rows are merged; different rows that tie fail the run.

    NULL sorts first. If the frame has ``PLACE``, the later file breaks ties.
    """
    ranked = _compared(frame, schema, keys, order_by)
    same_key = Window.partitionBy(*_columns(keys))
    ranked = ranked.withColumn(_FIRST, F.row_number().over(same_key.orderBy(F.lit(0))))
    in_files = PLACE in frame.columns
    agree = F.when(F.col(_LOW) == F.col(_HIGH), F.lit(True)).otherwise(
        _contradiction(keys, order_by, in_files=in_files)
    )
    return ranked.filter(agree & (F.col(_FIRST) == 1)).drop(_RANK, _LOW, _HIGH, _FIRST, PLACE)


def has_ties(
    frame: DataFrame, schema: TableSchema, keys: Sequence[str], order_by: Sequence[str]
) -> bool:
    """Whether different rows of a key tie for the last place."""
    ranked = _compared(frame, schema, keys, order_by)
    return not ranked.filter(F.col(_LOW) != F.col(_HIGH)).isEmpty()


def _compared(
    frame: DataFrame, schema: TableSchema, keys: Sequence[str], order_by: Sequence[str]
) -> DataFrame:
    """The last rows of every key, each with the minimum and maximum hash among them."""
    same_key = Window.partitionBy(*_columns(keys))
    names = [*map(quoted_name, order_by), *([PLACE] if PLACE in frame.columns else [])]
    ordered = [F.col(name).desc_nulls_last() for name in names] or [F.lit(0)]
    tied = frame.withColumn(_RANK, F.rank().over(same_key.orderBy(*ordered)))
    tied = tied.filter(F.col(_RANK) == 1)
    content = content_hash(schema.columns)
    compared = tied.withColumn(_LOW, F.min(content).over(same_key))
    return compared.withColumn(_HIGH, F.max(content).over(same_key))


def refuse_null_keys(frame: DataFrame, keys: Sequence[str]) -> DataFrame:
    """The same frame; a NULL in a key column fails the run."""
    condition = F.lit(False)
    for name in keys:
        condition = condition | F.col(quoted_name(name)).isNull()
    message = f"a row has NULL in its key ({', '.join(keys)})"
    return frame.filter(F.when(condition, refusal(message).cast("boolean")).otherwise(F.lit(True)))


def _columns(names: Sequence[str]) -> list[SparkColumn]:
    return [F.col(quoted_name(name)) for name in names]


def _contradiction(keys: Sequence[str], order_by: Sequence[str], *, in_files: bool) -> SparkColumn:
    values = [shown(F.col(quoted_name(name)), name, quote="") for name in keys]
    way_out = (
        f"and {', '.join(order_by)} does not order them"
        if order_by
        else "and the load has no order_by to choose the last one"
    )
    return refusal(
        f"several rows of the key ({', '.join(keys)}) = (",
        F.concat_ws(", ", *values),
        f") differ{' in one file' if in_files else ''}, {way_out}",
    )

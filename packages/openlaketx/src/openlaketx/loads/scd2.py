"""SCD2: every version of a key with its validity; late rows are inserted in order.

The history of each key in the batch is computed again from the table's versions and the batch's
rows; the difference from the table is the change. Equal neighbours are merged.
"""

from __future__ import annotations

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from lakeguard_sdk.core.enums import HashStrategy
from lakeguard_sdk.model.load import (
    IS_CURRENT,
    ROW_HASH,
    VALID_FROM,
    VALID_TO,
)
from lakeguard_sdk.model.run import RunPlan
from openlaketx.conform.hashes import content_hash, hashed_columns
from openlaketx.engine.spark.types import quoted_name
from openlaketx.loads.incoming_batch import Incoming, small_side
from openlaketx.loads.keyed_changes import (
    DELETE,
    INSERT,
    NOTHING,
    OP,
    UPDATE,
    deletes_row,
)
from openlaketx.loads.table_state import FILE

_AT, _STATE, _RANK, _PLACE, _BEFORE = "lg_at", "lg_state", "lg_rank", "lg_place", "lg_before"
_OLD = "lg_old_"


def changed_history(incoming: Incoming, existing: DataFrame, plan: RunPlan) -> DataFrame:
    """Versions that start, change their end, or are removed; each with its current file."""
    keys = incoming.frame.select(*_columns(plan.load.keys)).distinct()
    known = existing.join(small_side(keys, incoming.rows), list(plan.load.keys), "left_semi")
    known = known.withColumn(_STATE, _hash(plan))
    events = _events(incoming.frame, known, plan)
    return _difference(_states(events, plan), known, plan)


def _events(incoming: DataFrame, known: DataFrame, plan: RunPlan) -> DataFrame:
    """Events of each key: the batch's rows, the table's versions, and their ends."""
    carried = _columns(_carried(plan))
    fresh = incoming.withColumn(_STATE, F.when(~deletes_row(plan.load), _hash(plan)))
    batch = fresh.select(*carried, _STATE, _time(plan).alias(_AT), F.lit(1).alias(_RANK))
    begun = known.select(*carried, _STATE, F.col(VALID_FROM).alias(_AT), F.lit(0).alias(_RANK))
    by_key = Window.partitionBy(*_columns(plan.load.keys)).orderBy(VALID_FROM)
    followed = known.withColumn(_BEFORE, F.lead(VALID_FROM).over(by_key))
    ended = followed.filter(
        F.col(VALID_TO).isNotNull() & ~F.col(VALID_TO).eqNullSafe(F.col(_BEFORE))
    )
    gone = ended.select(
        *_without_place(plan),
        F.lit(None).cast("string").alias(_STATE),
        F.col(VALID_TO).alias(_AT),
        F.lit(0).alias(_RANK),
    )
    return batch.unionByName(begun).unionByName(gone)


def _states(events: DataFrame, plan: RunPlan) -> DataFrame:
    """One event per time, the last in order; equal neighbours are merged.

    For ties, the batch wins over the table.
    """
    keys = _columns(plan.load.keys)
    last = [column.desc_nulls_last() for column in _columns(plan.load.order_by)]
    moment = Window.partitionBy(*keys, F.col(_AT)).orderBy(*last, F.col(_RANK).desc())
    single = events.withColumn(_PLACE, F.row_number().over(moment)).filter(F.col(_PLACE) == 1)
    in_time = Window.partitionBy(*keys).orderBy(_AT)
    turns = single.withColumn(_BEFORE, F.lag(_STATE).over(in_time)).filter(
        ~F.col(_STATE).eqNullSafe(F.col(_BEFORE))
    )
    till = F.lead(_AT).over(in_time)
    return (
        turns.withColumn(VALID_TO, till)
        .filter(F.col(_STATE).isNotNull())
        .withColumn(VALID_FROM, F.col(_AT))
        .withColumn(IS_CURRENT, F.col(VALID_TO).isNull())
    )


def _difference(states: DataFrame, known: DataFrame, plan: RunPlan) -> DataFrame:
    named = (*plan.load.keys, VALID_FROM)
    old = known.select(
        *(F.col(quoted_name(name)).alias(_OLD + name) for name in (*named, VALID_TO, _STATE)), FILE
    )
    same = F.lit(True)
    for name in named:
        same = same & (F.col(quoted_name(name)) == F.col(quoted_name(_OLD + name)))
    joined = states.join(old, same, "full")
    first = plan.load.keys[0]
    is_new = F.col(quoted_name(first)).isNotNull()
    is_old = F.col(quoted_name(_OLD + first)).isNotNull()
    unmoved = F.col(_STATE).eqNullSafe(F.col(_OLD + _STATE)) & F.col(VALID_TO).eqNullSafe(
        F.col(_OLD + VALID_TO)
    )
    operation = (
        F.when(~is_new, F.lit(DELETE))
        .when(~is_old, F.lit(INSERT))
        .when(unmoved, F.lit(NOTHING))
        .otherwise(F.lit(UPDATE))
    )
    changed = joined.withColumn(OP, operation).filter(F.col(OP) != NOTHING)
    return changed.select(*_table_row(plan, named), OP, FILE)


def _table_row(plan: RunPlan, named: tuple[str, ...]) -> list[SparkColumn]:
    row = []
    for name in plan.table_schema.names:
        value = F.col(quoted_name(name))
        if name in named:
            value = F.coalesce(value, F.col(quoted_name(_OLD + name)))
        row.append(value.alias(name))
    return row


def _carried(plan: RunPlan) -> list[str]:
    """Columns that a version takes from its row: all but the validity columns."""
    validity = (VALID_FROM, VALID_TO, IS_CURRENT)
    return [name for name in plan.table_schema.names if name not in validity]


def _without_place(plan: RunPlan) -> list[SparkColumn]:
    """Columns of an end event: the table does not store its order columns."""
    unknown = set(plan.load.order_by) - set(plan.load.keys)
    return [
        (F.when(F.lit(False), column) if name in unknown else column).alias(name)
        for name, column in zip(_carried(plan), _columns(_carried(plan)), strict=True)
    ]


def _time(plan: RunPlan) -> SparkColumn:
    if plan.load.effective:
        return F.col(quoted_name(plan.load.effective)).cast("timestamp")
    return F.lit(plan.as_of).cast("timestamp")


def _hash(plan: RunPlan) -> SparkColumn:
    """Hash that identifies the content of a version, in batch and table alike.

    Rows written before the hash column existed have none, so it is computed.
    """
    computed = content_hash(hashed_columns(plan))
    return (
        F.coalesce(F.col(ROW_HASH), computed)
        if plan.load.hash is HashStrategy.ROW_HASH
        else computed
    )


def _columns(names: tuple[str, ...] | list[str]) -> list[SparkColumn]:
    return [F.col(quoted_name(name)) for name in names]

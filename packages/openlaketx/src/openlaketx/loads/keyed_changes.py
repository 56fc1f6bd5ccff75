"""Row-level changes of a batch: INCREMENTAL, SNAPSHOT, CDC, and APPEND with keys.

Each load type yields the changed rows as the table will have them, with two extra columns: ``OP``
is the operation, ``FILE`` the file that currently contains the row.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import and_

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakeguard_sdk.core.enums import Deletes, HashStrategy, LoadType
from lakeguard_sdk.model.load import (
    DELETED_AT,
    IS_DELETED,
    KEY_HASH,
    ROW_HASH,
    Load,
)
from lakeguard_sdk.model.run import RunPlan
from openlaketx.conform.hashes import hashed_columns
from openlaketx.conform.selected_rows import in_window
from openlaketx.engine.shown_values import refusal, shown
from openlaketx.engine.spark.types import quoted_name
from openlaketx.loads.incoming_batch import Incoming, small_side
from openlaketx.loads.table_state import FILE

OP = "lg_op"
INSERT, UPDATE, DELETE, LATE, NOTHING = "I", "U", "D", "L", "N"
_OLD = "lg_old_"
_IS_OLD, _IS_NEW, _STAYS = "lg_is_old", "lg_is_new", "lg_stays"

Side = Callable[[str], SparkColumn]
"""A column on the batch's or the table's side of the join."""


def changed_rows(incoming: Incoming, existing: DataFrame, plan: RunPlan) -> DataFrame:
    """Rows that are inserted, updated, deleted or late; unchanged rows are omitted."""
    how = "full" if plan.load.type is LoadType.SNAPSHOT else "left"
    new = incoming.frame.withColumn(_IS_NEW, F.lit(True))
    stays = F.lit(False) if plan.window is None else ~in_window(plan)
    old = _renamed(existing.withColumn(_STAYS, stays)).withColumn(_IS_OLD, F.lit(True))
    if how == "left":
        keys = new.select(*(_new(name) for name in plan.load.keys))
        old = old.join(small_side(keys, incoming.rows), _same_key(plan), "left_semi")
    joined = new.join(old, _same_key(plan), how)
    changed = joined.withColumn(OP, _operation(plan))
    return changed.filter(F.col(OP) != NOTHING).select(*_table_row(plan), OP, FILE)


def _renamed(existing: DataFrame) -> DataFrame:
    return existing.select(
        *(F.col(quoted_name(name)).alias(_OLD + name) for name in existing.columns if name != FILE),
        FILE,
    )


def _same_key(plan: RunPlan) -> SparkColumn:
    return reduce(and_, (_new(name) == _old(name) for name in plan.load.keys))


def _operation(plan: RunPlan) -> SparkColumn:
    here, there = F.col(_IS_NEW).isNotNull(), F.col(_IS_OLD).isNotNull()
    match plan.load.type:
        case LoadType.APPEND:
            return F.when(there, F.lit(NOTHING)).otherwise(F.lit(INSERT))
        case LoadType.SNAPSHOT:
            held = F.when(~here & _old(_STAYS), F.lit(NOTHING))
            return _upsert(plan, there, held.when(~here, _deletion(plan)))
        case LoadType.CDC:
            gone = deletes_row(plan.load)
            unknown = INSERT if plan.load.deletes is Deletes.SOFT else NOTHING
            return _upsert(
                plan,
                there,
                F.when(gone & ~there, F.lit(unknown))
                .when(gone & _is_older(plan), F.lit(LATE))
                .when(gone, _deletion(plan)),
            )
    return _upsert(plan, there, None)


def _upsert(plan: RunPlan, there: SparkColumn, deletion: SparkColumn | None) -> SparkColumn:
    start = F.when(F.lit(False), F.lit(NOTHING)) if deletion is None else deletion
    return (
        start.when(~there, F.lit(INSERT))
        .when(_is_older(plan), F.lit(LATE))
        .when(_is_same(plan), F.lit(NOTHING))
        .otherwise(F.lit(UPDATE))
    )


def _deletion(plan: RunPlan) -> SparkColumn:
    """A soft delete is an update, and no change if the row is already deleted.

    A later delete event still advances the row's order columns.
    """
    if plan.load.deletes is Deletes.HARD:
        return F.lit(DELETE)
    already = _old(IS_DELETED)
    if plan.load.type is LoadType.CDC:
        already = already & ~_precedes(plan, _old, _new)
    return F.when(already, F.lit(NOTHING)).otherwise(F.lit(UPDATE))


def _is_same(plan: RunPlan) -> SparkColumn:
    if plan.load.hash is HashStrategy.ROW_HASH:
        same = _old(ROW_HASH).eqNullSafe(_new(ROW_HASH))
    else:
        columns = hashed_columns(plan)
        same = reduce(and_, (_equal(c.name, c.type) for c in columns), F.lit(True))
    if plan.load.hash is HashStrategy.KEY_HASH:
        same = same & _old(KEY_HASH).isNotNull()
    if plan.load.deletes is Deletes.SOFT:
        return same & ~F.coalesce(_old(IS_DELETED), F.lit(False))
    return same


def _equal(name: str, data_type: str) -> SparkColumn:
    """Spark cannot compare maps, so they are compared as text."""
    if "map<" in data_type:
        return F.to_json(_old(name)).eqNullSafe(F.to_json(_new(name)))
    return _old(name).eqNullSafe(_new(name))


def _is_older(plan: RunPlan) -> SparkColumn:
    """Whether the batch's row precedes the table's row of the same key."""
    return _precedes(plan, _new, _old)


def _precedes(plan: RunPlan, one: Side, other: Side) -> SparkColumn:
    """Whether one row precedes the other in the load's order; NULL is first."""
    earlier: SparkColumn = F.lit(False)
    for name in reversed(plan.load.order_by):
        first, second = one(name), other(name)
        before = F.coalesce(first < second, first.isNull() & second.isNotNull())
        earlier = before | (first.eqNullSafe(second) & earlier)
    return earlier


def _table_row(plan: RunPlan) -> list[SparkColumn]:
    """The row as the table will have it; for a soft delete, the table's current values.

    For a row missing in the batch only the key is known; it is enough to find the row.
    """
    soft = plan.load.deletes is Deletes.SOFT
    marked = _is_marked(plan) if soft else F.lit(False)
    own_place = plan.load.order_by if plan.load.type is LoadType.CDC else ()
    row = []
    for name in plan.table_schema.names:
        if soft and name == IS_DELETED:
            value = marked
        elif soft and name == DELETED_AT:
            value = F.when(marked, F.coalesce(_old(name), F.lit(plan.as_of)))
        elif name in plan.load.keys:
            value = F.coalesce(_new(name), _old(name))
        elif soft and name not in own_place:
            known = F.col(_IS_OLD).isNotNull()
            value = F.when(marked & known, _old(name)).otherwise(_new(name))
        else:
            value = _new(name)
        row.append(value.alias(name))
    return row


def _is_marked(plan: RunPlan) -> SparkColumn:
    if plan.load.type is LoadType.SNAPSHOT:
        return F.col(_IS_NEW).isNull()
    return F.coalesce(deletes_row(plan.load), F.lit(False))


def _old(name: str) -> SparkColumn:
    return F.col(quoted_name(_OLD + name))


def _new(name: str) -> SparkColumn:
    return F.col(quoted_name(name))


# Operation codes of common CDC feeds.

UPSERTS = ("i", "insert", "c", "create", "r", "read", "u", "update", "upsert")
DELETIONS = ("d", "delete")


def deletes_row(load: Load) -> SparkColumn:
    """Whether the row deletes its key; an unknown operation fails the run."""
    if not load.operation:
        return F.lit(False)
    value = F.col(quoted_name(load.operation))
    code = F.lower(F.trim(value))
    known = ", ".join((*UPSERTS, *DELETIONS))
    unknown = refusal(
        f"{load.operation} is ", shown(value, load.operation), f", which is not one of {known}"
    )
    return (
        F.when(code.isin(*DELETIONS), F.lit(True))
        .when(code.isin(*UPSERTS), F.lit(False))
        .otherwise(unknown.cast("boolean"))
    )

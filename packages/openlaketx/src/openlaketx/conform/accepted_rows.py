"""Applies the schema verdict to a batch: column names, missing columns, quarantined rows.

Rows with a value that does not fit its declared type are stored unchanged, with the reason, in
``quarantine/<layer>/<name>/execution_id=<run>`` of the lake.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from operator import and_

from pyspark.sql import Column as SparkColumn
from pyspark.sql import functions as F

from lakeguard_sdk.core.enums import Malformed
from lakeguard_sdk.model.quarantine import FIRST_SEEN, REASON
from lakeguard_sdk.model.run import RunPlan, SchemaReaction, SchemaVerdict, SourceBuild
from lakeguard_sdk.model.schema_changes import Reaction, SchemaChange
from lakeguard_sdk.storage.run_folders import quarantine_place
from lakeguard_sdk.types.schema import Column, TableSchema, is_nested, widens
from lakeguard_sdk.types.type_parser import parse_type
from lakeguard_sdk.types.type_tree import ColumnType
from openlaketx.conform.casts import is_sound, nested_fits, part_by_part
from openlaketx.engine.locations import spark_path
from openlaketx.engine.spark.errors import SPARK_ERRORS
from openlaketx.engine.spark.types import data_type_of, has_cast, quoted_name, spark_type, try_cast
from openlaketx.extract import Batch
from openlaketx.extract.files.file_order import ROW_FILE

_MISSING = (SchemaChange.DROP_NULLABLE, SchemaChange.DROP_REQUIRED, SchemaChange.RENAME)


def as_accepted(batch: Batch, verdict: SchemaVerdict, plan: RunPlan, lake: str) -> Batch:
    """The batch under declared names; rows that cannot be cast are counted as rejected."""
    taken = [item for item in verdict.differences if item.reaction is Reaction.ACCEPT]
    batch = _renamed(batch, taken)
    batch = _filled(batch, taken)
    reactions = [item for item in verdict.differences if item.reaction is Reaction.QUARANTINE_ROW]
    columns = [
        column
        for column in plan.batch_schema.columns
        if _is_in(column.name, reactions) or _is_lenient(column, batch, plan)
    ]
    return _without_malformed(batch, columns, plan, lake) if columns else batch


def _is_lenient(column: Column, batch: Batch, plan: RunPlan) -> bool:
    """Whether a text source quarantines rows whose text is no value of the column."""
    build = plan.build
    lenient = isinstance(build, SourceBuild) and build.malformed is Malformed.QUARANTINE
    text = batch.live.type_of(column.name) == "string" and column.type != "string"
    return lenient and text and not is_nested(column.type)


def _renamed(batch: Batch, taken: Iterable[SchemaReaction]) -> Batch:
    """Rename columns whose names differ from the declared ones in case only."""
    names = {item.other: item.column for item in taken if item.change is SchemaChange.CASE_RENAME}
    if not names:
        return batch
    both = [(column, names.get(column.name, column.name)) for column in batch.live.columns]
    selected = [batch.frame[quoted_name(column.name)].alias(name) for column, name in both]
    carried = {ROW_FILE, FIRST_SEEN} & set(batch.frame.columns) - set(batch.live.names)
    frame = batch.frame.select(*selected, *sorted(carried))
    columns = tuple(column.model_copy(update={"name": name}) for column, name in both)
    return replace(batch, frame=frame, live=TableSchema(columns=columns))


def _filled(batch: Batch, taken: Iterable[SchemaReaction]) -> Batch:
    """Add missing columns as NULL."""
    gone = [item for item in taken if item.change in _MISSING]
    if not gone:
        return batch
    empty = {item.column: str(item.declared) for item in gone}
    nulls = [F.lit(None).cast(data_type_of(t)).alias(name) for name, t in empty.items()]
    columns = tuple(Column(name=name, type=data_type) for name, data_type in empty.items())
    live = TableSchema(columns=batch.live.columns + columns)
    return replace(batch, frame=batch.frame.select("*", *nulls), live=live)


def _without_malformed(batch: Batch, columns: list[Column], plan: RunPlan, lake: str) -> Batch:
    """The rows that fit; the others are written to quarantine first, so that none is lost."""
    batch = _made_once(batch)
    fits = [(column, _fits(batch, column)) for column in columns]
    good = reduce(and_, (fit for _, fit in fits))
    reasons = [F.when(~fit, F.lit(f"{c.name} is not a valid {c.type}")) for c, fit in fits]
    bad = batch.frame.filter(~good).withColumn(REASON, F.concat_ws("; ", *reasons))
    try:
        rejected = bad.count()
        if rejected:
            bad.drop(ROW_FILE).write.mode("error").json(_place(plan, lake))
    except SPARK_ERRORS as error:
        raise batch.explain(error) from None
    return replace(batch, frame=batch.frame.filter(good), rejected=batch.rejected + rejected)


def _made_once(batch: Batch) -> Batch:
    """Compute the rows once: a nondeterministic build could put a row into both parts, or neither.
    If the cached rows are lost, the run fails."""
    try:
        return replace(batch, frame=batch.frame.localCheckpoint())
    except SPARK_ERRORS as error:
        raise batch.explain(error) from None


def _fits(batch: Batch, column: Column) -> SparkColumn:
    value = batch.frame[quoted_name(column.name)]
    return _is_castable(value, str(batch.live.type_of(column.name)), column.type)


def _is_in(column: str, reactions: Iterable[SchemaReaction]) -> bool:
    """Whether the column, or a field of it, may fail the cast."""
    inside = (f"{column}.", f"{column}[")
    return any(item.column == column or item.column.startswith(inside) for item in reactions)


def _place(plan: RunPlan, lake: str) -> str:
    return spark_path(quarantine_place(lake, plan.dataset, plan.ticket.run_id))


def _is_castable(value: SparkColumn, found: str, declared: str) -> SparkColumn:
    """TRUE if ``lossless_cast`` succeeds, FALSE if it would fail; never NULL."""
    if found == declared or widens(found, declared):
        return F.lit(True)
    if is_nested(found) or is_nested(declared):
        old, new = parse_type(found), parse_type(declared)
        return F.lit(True) if part_by_part(old, new) else nested_fits(value, old, new, _part_fits)
    if found == "string":
        return value.isNull() | (value == "") | F.coalesce(is_sound(value, declared), F.lit(False))
    if not has_cast(found, declared):
        return value.isNull()
    back = try_cast(value, spark_type(declared)).cast(spark_type(found))
    return back.eqNullSafe(value)


def _part_fits(value: SparkColumn, found: ColumnType, declared: ColumnType) -> SparkColumn:
    if isinstance(found, str) and isinstance(declared, str):
        return _is_castable(value, found, declared)
    return value.isNull()

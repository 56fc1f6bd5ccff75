"""Selects the declared columns, in order and with their exact names."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import or_

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakeguard_sdk.errors import LakeGuardError, LoadFailed
from lakeguard_sdk.model.quarantine import FIRST_SEEN
from lakeguard_sdk.types.schema import Column, TableSchema, is_nested
from openlaketx.conform.casts import MISFIT, checked_cast, is_sound, lossless_cast
from openlaketx.engine.shown_values import shown_text
from openlaketx.engine.spark.errors import SPARK_ERRORS
from openlaketx.engine.spark.types import quoted_name, spark_type, try_cast
from openlaketx.extract import Batch
from openlaketx.extract.files.file_order import ROW_FILE

_CAST = "lg_cast_"


def conform(frame: DataFrame, live: TableSchema, declared: TableSchema, dataset: str) -> DataFrame:
    """Every value in its declared type, without loss; one that does not fit fails the run.

    Undeclared columns are dropped, as the schema verdict allows. The row's file and the time of its
    first quarantine are retained.
    """
    if live.columns == declared.columns:
        return frame
    selected: list[SparkColumn | str] = []
    frame, casts = _with_casts(frame, live, declared)
    for column in declared.columns:
        found = live.type_of(column.name)
        if found is None:
            raise LoadFailed(dataset=dataset, reason=f"column {column.name!r} is missing")
        name = quoted_name(column.name)
        if found == column.type:
            selected.append(name)
            continue
        if column.name in casts:
            given = frame[casts[column.name]]
            cast = checked_cast(frame[name], given, column.name, column.type)
        else:
            cast = lossless_cast(frame[name], column.name, found, column.type)
        selected.append(cast.alias(column.name))
    carried = {ROW_FILE, FIRST_SEEN} & set(frame.columns) - set(live.names)
    selected += sorted(carried)
    return frame.select(*selected)


def _with_casts(
    frame: DataFrame, live: TableSchema, declared: TableSchema
) -> tuple[DataFrame, dict[str, str]]:
    """The frame with the cast of each text as a column, so that Spark computes it once; and the
    names of these columns."""
    texts = [column for column in declared.columns if _is_read(column, live)]
    casts = {column.name: f"{_CAST}{place}" for place, column in enumerate(texts)}
    added = {
        casts[column.name]: try_cast(frame[quoted_name(column.name)], spark_type(column.type))
        for column in texts
    }
    return (frame.withColumns(added) if added else frame), casts


# Location of a text that does not fit its column's type.


def locate_misfits(batch: Batch, declared: TableSchema) -> Batch:
    """The same batch; the error for a text that does not fit names its file, and its line if known.

    Found by a second read, which happens only after a failure.
    """
    texts = [column for column in declared.columns if _is_read(column, batch.live)]
    if batch.place_of is None or not texts:
        return batch

    def explain(error: Exception) -> LakeGuardError:
        explained = batch.explain(error)
        if MISFIT not in str(explained) or "reason" not in explained.fields:
            return explained
        found = _first(batch, texts)
        return type(explained)(**{**explained.fields, "reason": found}) if found else explained

    return replace(batch, explain=explain)


def _is_read(column: Column, live: TableSchema) -> bool:
    texts = live.type_of(column.name) == "string" and column.type != "string"
    return texts and not is_nested(column.type)


def _first(batch: Batch, texts: list[Column]) -> str:
    """The failing value with its location; empty if the second read does not find it."""
    misfits = [_misfit(batch.frame, column) for column in texts]
    chosen = batch.frame.filter(reduce(or_, (misfit.isNotNull() for misfit in misfits)))
    try:
        row = chosen.select(F.input_file_name(), *misfits).first()
    except SPARK_ERRORS:
        return ""
    if row is None or batch.place_of is None:
        return ""
    column, value = next(
        (column, value) for column, value in zip(texts, row[1:], strict=True) if value is not None
    )
    place = batch.place_of(row[0], column.name, value)
    message = f"column {column.name}: {shown_text(value, column.name)} {MISFIT} {column.type}"
    return f"{place}: {message}" if place else ""


def _misfit(frame: DataFrame, column: Column) -> SparkColumn:
    """The text if it is not a valid value of the column, else NULL."""
    text = frame[quoted_name(column.name)]
    return F.when((text != "") & ~is_sound(text, column.type), text)

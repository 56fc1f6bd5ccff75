"""Hashes of rows and keys: SHA-256 over all values with column name and type, ordered by name.

Names and texts are length-prefixed, so that different rows never have the same input: ``('a',
NULL)`` differs from ``(NULL, 'a')``, and ``('ab', 'c')`` from ``('a', 'bc')``. A NULL adds nothing:
a row keeps its hash if its table gains or reorders columns. Nested values are encoded recursively,
with a tag for NULL; map entries are unordered.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakeguard_sdk.core.enums import HashStrategy
from lakeguard_sdk.model.load import KEY_HASH, ROW_HASH, hashed_names
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.types.schema import (
    FLOATS,
    INTEGERS,
    Column,
    decimal_size,
)
from lakeguard_sdk.types.type_parser import parse_type
from lakeguard_sdk.types.type_tree import (
    ArrayOf,
    ColumnType,
    MapOf,
    StructOf,
)
from openlaketx.engine.spark.types import quoted_name


def content_hash(columns: Sequence[Column]) -> SparkColumn:
    """Hash of these columns of a row, independent of their order."""
    by_name = sorted(columns, key=lambda column: column.name)
    return F.sha2(F.concat(*(_named(column) for column in by_name)), 256)


def hashed_columns(plan: RunPlan) -> tuple[Column, ...]:
    """Columns that the row hash covers."""
    names = hashed_names(plan.load, plan.declared.names)
    return tuple(column for column in plan.declared.columns if column.name in names)


def with_hashes(frame: DataFrame, plan: RunPlan) -> DataFrame:
    """Add the hash column that the load writes, if any."""
    if plan.load.hash is HashStrategy.ROW_HASH:
        return frame.withColumn(ROW_HASH, content_hash(hashed_columns(plan)))
    if plan.load.hash is HashStrategy.KEY_HASH:
        keys = [column for column in plan.declared.columns if column.name in plan.load.keys]
        return frame.withColumn(KEY_HASH, content_hash(keys))
    return frame


def _named(column: Column) -> SparkColumn:
    value = F.col(quoted_name(column.name))
    name = F.lit(f"{len(column.name)}:{column.name}")
    encoded = F.concat(name, _text(value, parse_type(column.type)))
    return F.when(value.isNull(), F.lit("")).otherwise(encoded)


def _tagged(value: SparkColumn, data_type: ColumnType) -> SparkColumn:
    return F.when(value.isNull(), F.lit("N")).otherwise(_text(value, data_type))


def _text(value: SparkColumn, data_type: ColumnType) -> SparkColumn:
    match data_type:
        case StructOf(fields=fields):
            parts = (_tagged(value.getField(name), part) for name, part in fields)
            return F.concat(F.lit("R"), *parts)
        case ArrayOf(element=element):
            return _listed("A", F.transform(value, lambda item: _tagged(item, element)))
        case MapOf():
            return _listed("M", F.array_sort(_entries(value, data_type)))
        case str():
            return _plain_text(value, data_type)


def _entries(value: SparkColumn, data_type: MapOf) -> SparkColumn:
    return F.transform(
        F.map_entries(value),
        lambda entry: F.concat(
            _tagged(entry.getField("key"), data_type.key),
            _tagged(entry.getField("value"), data_type.value),
        ),
    )


def _listed(tag: str, texts: SparkColumn) -> SparkColumn:
    size = F.size(texts).cast("string")
    return F.concat(F.lit(tag), size, F.lit(":"), F.array_join(texts, ""))


def _plain_text(value: SparkColumn, data_type: str) -> SparkColumn:
    """Without NULLs. Doubles are encoded by their bits, because their text depends on the Java
    version."""
    if data_type == "string":
        return _sized("S", value)
    if data_type in INTEGERS:
        return _ended("I", value)
    if decimal_size(data_type):
        return _ended("D", value)
    if data_type in FLOATS:
        return _ended("F", F.xxhash64(value.cast("double") + F.lit(0.0)))
    if data_type == "boolean":
        return F.when(value, F.lit("B1")).otherwise(F.lit("B0"))
    if data_type == "date":
        return _ended("T", F.unix_date(value))
    if data_type in ("timestamp", "timestamp_ntz"):
        tag = "Z" if data_type == "timestamp" else "L"
        return _ended(tag, F.unix_micros(value.cast("timestamp")))
    return _sized("X", F.hex(value))


def _ended(tag: str, value: SparkColumn) -> SparkColumn:
    return F.concat(F.lit(tag), value.cast("string"), F.lit(";"))


def _sized(tag: str, text: SparkColumn) -> SparkColumn:
    return F.concat(F.lit(tag), F.octet_length(text).cast("string"), F.lit(":"), text)

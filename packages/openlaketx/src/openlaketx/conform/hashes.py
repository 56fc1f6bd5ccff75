"""Hashes of rows and keys: SHA-256 over every value, tagged with its type, in column order.

NULL has a tag of its own and texts carry their length, so that no two different rows have the
same text to hash: ``('a', NULL)`` is not ``(NULL, 'a')``, nor ``('ab', 'c')`` ``('a', 'bc')``.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakeguard_sdk.load import KEY_HASH, ROW_HASH
from lakeguard_sdk.run import RunPlan
from lakeguard_sdk.schema import FLOATS, INTEGERS, Column, decimal_size
from lakeguard_sdk.words import HashStrategy, LoadType
from openlaketx.engine.spark_types import quoted_name

_JSON = {"ignoreNullFields": "false", "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"}


def content_hash(columns: Sequence[Column]) -> SparkColumn:
    """One hash of these columns of a row, in the order given."""
    return F.sha2(F.concat(*(_tagged(column) for column in columns)), 256)


def hashed_columns(plan: RunPlan) -> tuple[Column, ...]:
    """What of a row its hash is over: all but the keys, and for history all but its own time."""
    apart = set(plan.load.keys)
    if plan.load.type is LoadType.SCD2:
        apart.add(plan.load.effective)
    return tuple(column for column in plan.declared.columns if column.name not in apart)


def with_hashes(frame: DataFrame, plan: RunPlan) -> DataFrame:
    """The frame with the hash column that its load writes, if it writes one."""
    if plan.load.hash is HashStrategy.ROW_HASH:
        return frame.withColumn(ROW_HASH, content_hash(hashed_columns(plan)))
    if plan.load.hash is HashStrategy.KEY_HASH:
        keys = [column for column in plan.declared.columns if column.name in plan.load.keys]
        return frame.withColumn(KEY_HASH, content_hash(keys))
    return frame


def _tagged(column: Column) -> SparkColumn:
    value = F.col(quoted_name(column.name))
    return F.when(value.isNull(), F.lit("N")).otherwise(_text(value, column.type))


def _text(value: SparkColumn, data_type: str) -> SparkColumn:
    """Without NULLs. A double is told by its bits: its spelling is a matter of Java's version."""
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
    if data_type == "binary":
        return _sized("X", F.hex(value))
    return _sized("J", F.to_json(F.struct(value.alias("v")), _JSON))


def _ended(tag: str, value: SparkColumn) -> SparkColumn:
    return F.concat(F.lit(tag), value.cast("string"), F.lit(";"))


def _sized(tag: str, text: SparkColumn) -> SparkColumn:
    return F.concat(F.lit(tag), F.octet_length(text).cast("string"), F.lit(":"), text)

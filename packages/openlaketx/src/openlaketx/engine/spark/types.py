"""Conversion between column types and Spark types."""

from __future__ import annotations

import json
from typing import Any

from pyspark import SparkContext
from pyspark.sql import Column as SparkColumn
from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from lakeguard_sdk.types.plain_types import TIMES, is_numeric
from lakeguard_sdk.types.schema import Column, TableSchema, normal_type
from lakeguard_sdk.types.type_tree import (
    ArrayOf,
    ColumnType,
    MapOf,
    StructOf,
    type_text,
)

_SPARK = {"byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint"}


class UnsupportedType(ValueError):
    """A column of a frame that no dataset can declare."""


def spark_type(data_type: str) -> str:
    """Spark SQL name of a plain type."""
    return _SPARK.get(data_type, data_type)


def quoted_name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def spark_schema(schema: TableSchema) -> StructType:
    """All nullable, names unchanged."""
    return StructType.fromJson(json.loads(schema.delta_json()))


def data_type_of(data_type: str) -> DataType:
    """Spark data type, plain or nested."""
    column = Column(name="it", type=data_type)
    return spark_schema(TableSchema(columns=(column,))).fields[0].dataType


def live_schema(frame_schema: StructType) -> TableSchema:
    """Schema of a frame; ``UnsupportedType`` for interval, variant and void columns."""
    columns = []
    for field in frame_schema.fields:
        try:
            data_type = normal_type(type_text(_tree(field.dataType)))
        except ValueError:
            raise UnsupportedType(
                f"column {field.name} is {field.dataType.simpleString()}, which is not supported"
            ) from None
        columns.append(Column(name=field.name, type=data_type))
    return TableSchema(columns=tuple(columns))


def _tree(found: DataType) -> ColumnType:
    """Field by field, because Spark's text of a struct does not quote field names."""
    match found:
        case StructType():
            return StructOf(tuple((field.name, _tree(field.dataType)) for field in found.fields))
        case ArrayType():
            return ArrayOf(_tree(found.elementType))
        case MapType():
            return MapOf(_tree(found.keyType), _tree(found.valueType))
    return normal_type(found.simpleString())


# ``try_cast`` on every Spark version.


def has_cast(found: str, declared: str) -> bool:
    """Whether Spark supports a cast between two plain types; other casts fail analysis."""
    both = {found, declared}
    if "binary" in both:
        return both <= {"binary", "string"}
    if "boolean" in both:
        return both.isdisjoint(TIMES)
    return not (any(map(is_numeric, both)) and both & {"date", "timestamp_ntz"})


def try_cast(value: SparkColumn, data_type: str) -> SparkColumn:
    """``value`` as a plain Spark SQL type, or NULL."""
    if hasattr(type(value), "try_cast"):  # a Column answers hasattr for any name
        return value.try_cast(data_type)
    return _before_4(value, data_type)


def _before_4(value: Any, data_type: str) -> SparkColumn:
    """Spark 3.5 has it in SQL only."""
    context: Any = SparkContext._active_spark_context
    sql = context._jvm.org.apache.spark.sql
    expressions = sql.catalyst.expressions
    modes = getattr(getattr(expressions, "EvalMode$"), "MODULE$")
    kind = sql.types.DataType.fromDDL(data_type)
    no_zone = context._jvm.scala.Option.empty()
    return SparkColumn(sql.Column(expressions.Cast(value._jc.expr(), kind, no_zone, modes.TRY())))

"""Column types as Spark spells them."""

from __future__ import annotations

from pyspark.sql.types import StructType

from lakeguard_sdk.schema import Column, TableSchema, normal_type

_SPARK = {"byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint"}


class UnsupportedType(ValueError):
    """A frame has a column that no dataset can declare; says which."""


def spark_type(data_type: str) -> str:
    return _SPARK.get(data_type, data_type)


def quoted_name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def spark_schema(schema: TableSchema) -> StructType:
    """All nullable, names as they stand."""
    made = StructType()
    for column in schema.columns:
        made.add(column.name, column.type)
    return made


def live_schema(frame_schema: StructType) -> TableSchema:
    """What a frame holds; ``UnsupportedType`` for nested, interval, variant and void columns."""
    columns = []
    for field in frame_schema.fields:
        try:
            data_type = normal_type(field.dataType.simpleString())
        except ValueError:
            raise UnsupportedType(
                f"column {field.name} is {field.dataType.simpleString()},"
                " which no dataset can declare"
            ) from None
        columns.append(Column(name=field.name, type=data_type))
    return TableSchema(columns=tuple(columns))

"""Widening inside nested values: part by part, because Spark casts structs by position."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakeguard_sdk.type_tree import ArrayOf, ColumnType, MapOf, StructOf
from openlaketx.engine.spark_types import spark_type


def nested_cast(value: Column, found: ColumnType, declared: ColumnType) -> Column:
    """``value`` as the wider type: fields by name, in the declared order; NULL stays NULL.

    ValueError where the one type does not widen to the other.
    """
    if found == declared:
        return value
    match found, declared:
        case str(), str():
            return value.cast(spark_type(declared))
        case ArrayOf(element=old), ArrayOf(element=new):
            return F.transform(value, lambda item: nested_cast(item, old, new))
        case MapOf(), MapOf():
            return _map(value, found, declared)
        case StructOf(), StructOf():
            return _struct(value, found, declared)
    raise ValueError(f"{found} is not part by part {declared}")


def _struct(value: Column, found: StructOf, declared: StructOf) -> Column:
    old = dict(found.fields)
    fields = [
        nested_cast(value.getField(name), old[name], new).alias(name)
        for name, new in declared.fields
    ]
    return F.when(value.isNotNull(), F.struct(*fields))


def _map(value: Column, found: MapOf, declared: MapOf) -> Column:
    """Keys that differ still differ when they are wider."""
    keyed = F.transform_keys(value, lambda key, _: nested_cast(key, found.key, declared.key))
    return F.transform_values(keyed, lambda _, item: nested_cast(item, found.value, declared.value))

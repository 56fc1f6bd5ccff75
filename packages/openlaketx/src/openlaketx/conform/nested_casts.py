"""Casts inside nested values: part by part, because Spark casts structs by position."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakeguard_sdk.plain_types import plain_widens, whole_number_fits
from lakeguard_sdk.type_tree import ArrayOf, ColumnType, MapOf, StructOf, parts_of, type_text
from openlaketx.engine.spark_types import data_type_of, spark_type


def nested_cast(value: Column, found: ColumnType, declared: ColumnType) -> Column:
    """``value`` as the declared type: fields by name, in the declared order; NULL stays NULL.

    A field that is not there is NULL, and one that is not declared is left out. ValueError where
    the one type is not ``part_by_part`` the other.
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


def part_by_part(found: ColumnType, declared: ColumnType) -> bool:
    """Whether every part that both types have keeps its values in the declared one."""
    match found, declared:
        case str(), str():
            local = (found, declared) == ("date", "timestamp_ntz")
            return local or plain_widens(found, declared) or whole_number_fits(found, declared)
        case StructOf(), StructOf():
            both = ((_field(found, name), new) for name, new in declared.fields)
            return all(old is None or part_by_part(old[1], new) for old, new in both)
        case (ArrayOf(), ArrayOf()) | (MapOf(), MapOf()):
            pairs = zip(parts_of(found), parts_of(declared), strict=True)
            return all(part_by_part(one, other) for one, other in pairs)
    return False


def _struct(value: Column, found: StructOf, declared: StructOf) -> Column:
    fields = [_part(value, found, name, new).alias(name) for name, new in declared.fields]
    return F.when(value.isNotNull(), F.struct(*fields))


def _part(value: Column, found: StructOf, name: str, new: ColumnType) -> Column:
    old = _field(found, name)
    if old is None:
        return F.lit(None).cast(data_type_of(type_text(new)))
    return nested_cast(value.getField(old[0]), old[1], new)


def _field(found: StructOf, name: str) -> tuple[str, ColumnType] | None:
    """The field of this name, else the one whose name differs in case alone."""
    alike = [field for field in found.fields if field[0].casefold() == name.casefold()]
    return next((field for field in alike if field[0] == name), alike[0] if alike else None)


def _map(value: Column, found: MapOf, declared: MapOf) -> Column:
    """Keys that differ still differ when they are wider."""
    keyed = F.transform_keys(value, lambda key, _: nested_cast(key, found.key, declared.key))
    return F.transform_values(keyed, lambda _, item: nested_cast(item, found.value, declared.value))

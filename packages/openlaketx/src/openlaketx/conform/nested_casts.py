"""Casts inside nested values: part by part, because Spark casts structs by position."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import and_

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakeguard_sdk.plain_types import plain_widens, whole_number_fits
from lakeguard_sdk.type_tree import ArrayOf, ColumnType, MapOf, StructOf, parts_of, type_text
from openlaketx.engine.spark_types import data_type_of, spark_type

Part = Callable[[Column, ColumnType, ColumnType], Column]
"""What is made of a value that is not of the same shape in both types."""


def nested_cast(
    value: Column, found: ColumnType, declared: ColumnType, part: Part | None = None
) -> Column:
    """``value`` as the declared type: fields by name, in the declared order; NULL stays NULL.

    A field that is not there is NULL, and one that is not declared is left out. Without ``part``
    ValueError where the one type is not ``part_by_part`` the other.
    """
    cast = part or _plain
    if found == declared:
        return value
    match found, declared:
        case ArrayOf(element=old), ArrayOf(element=new):
            return F.transform(value, lambda item: nested_cast(item, old, new, cast))
        case MapOf(), MapOf() if part_by_part(found.key, declared.key):
            return _map(value, found, declared, cast)
        case StructOf(), StructOf():
            return _struct(value, found, declared, cast)
    return cast(value, found, declared)


def nested_fits(value: Column, found: ColumnType, declared: ColumnType, part: Part) -> Column:
    """TRUE where ``part`` is TRUE of all that ``nested_cast`` gives to it; never NULL."""
    if found == declared:
        return F.lit(True)
    match found, declared:
        case ArrayOf(element=old), ArrayOf(element=new):
            fits = F.forall(value, lambda item: nested_fits(item, old, new, part))
        case MapOf(value=old), MapOf(value=new) if part_by_part(found.key, declared.key):
            values = F.map_values(value)
            fits = F.forall(values, lambda item: nested_fits(item, old, new, part))
        case StructOf(), StructOf():
            both = ((_field(found, name), new) for name, new in declared.fields)
            told = (nested_fits(value.getField(o[0]), o[1], new, part) for o, new in both if o)
            fits = reduce(and_, told, F.lit(True))
        case _:
            return part(value, found, declared)
    return value.isNull() | fits


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


def _plain(value: Column, found: ColumnType, declared: ColumnType) -> Column:
    if isinstance(found, str) and isinstance(declared, str):
        return value.cast(spark_type(declared))
    raise ValueError(f"{found} is not part by part {declared}")


def _struct(value: Column, found: StructOf, declared: StructOf, cast: Part) -> Column:
    fields = [_named(value, found, name, new, cast).alias(name) for name, new in declared.fields]
    return F.when(value.isNotNull(), F.struct(*fields))


def _named(value: Column, found: StructOf, name: str, new: ColumnType, cast: Part) -> Column:
    old = _field(found, name)
    if old is None:
        return F.lit(None).cast(data_type_of(type_text(new)))
    return nested_cast(value.getField(old[0]), old[1], new, cast)


def _field(found: StructOf, name: str) -> tuple[str, ColumnType] | None:
    """The field of this name, else the one whose name differs in case alone."""
    alike = [field for field in found.fields if field[0].casefold() == name.casefold()]
    return next((field for field in alike if field[0] == name), alike[0] if alike else None)


def _map(value: Column, found: MapOf, declared: MapOf, cast: Part) -> Column:
    """Keys that differ still differ when they are wider."""
    keyed = F.transform_keys(value, lambda key, _: nested_cast(key, found.key, declared.key, cast))
    return F.transform_values(
        keyed, lambda _, item: nested_cast(item, found.value, declared.value, cast)
    )

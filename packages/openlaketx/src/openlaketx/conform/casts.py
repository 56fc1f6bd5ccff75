"""Lossless casts; a value that does not fit fails the run, which names column and value.

Spark's own casts, even under ANSI, drop fractions, round decimals, trim blanks and control
characters, and read ``2024`` as a date. Here text is accepted only in formats that every engine
reads alike; an empty text, even a quoted one, is NULL:

    byte, short, integer, long   12  -3  +7
    float, double                1.5  .5  2.  1e-3        not NaN, not Infinity
    decimal(p,s)                 1.50, with only zeros after the scale
    boolean                      true  false, in any case
    date                         2013-12-31
    timestamp                    2013-12-31T23:59:59.123456Z, T or a blank; UTC without a zone
    timestamp_ntz                the same without a zone
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import and_

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakeguard_sdk.types.plain_types import plain_widens, whole_number_fits
from lakeguard_sdk.types.schema import (
    FLOATS,
    INTEGERS,
    decimal_size,
    is_nested,
    widens,
)
from lakeguard_sdk.types.type_parser import parse_type
from lakeguard_sdk.types.type_tree import (
    ArrayOf,
    ColumnType,
    MapOf,
    StructOf,
    parts_of,
    type_text,
)
from openlaketx.engine.shown_values import refused_text
from openlaketx.engine.spark.types import data_type_of, has_cast, spark_type, try_cast

NOT_YEAR_ZERO = "(?!0000)"
_DATE = NOT_YEAR_ZERO + r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = r"[ T](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?"
_ZONE = r"(?:Z|[+-](?:0[0-9]|1[0-4]):[0-5][0-9])?"
_FLOAT = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_GUARDS = {
    **dict.fromkeys(INTEGERS, r"[+-]?[0-9]+"),
    "float": _FLOAT,
    "double": _FLOAT,
    "boolean": r"(?:[tT][rR][uU][eE]|[fF][aA][lL][sS][eE])",
    "date": _DATE,
    "timestamp": _DATE + _TIME + _ZONE,
    "timestamp_ntz": _DATE + _TIME,
}
_TIMES = ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z")
MISFIT = "is not a valid"


def lossless_cast(value: Column, name: str, found: str, declared: str) -> Column:
    """``value`` as the declared type without loss, or an error for the first value that does not
    fit."""
    if found == declared:
        return value
    if is_nested(found) or is_nested(declared):
        return _nested(value, name, found, declared)
    if widens(found, declared):
        return value.cast(spark_type(declared))
    if found == "string":
        return _from_text(value, name, declared)
    if not has_cast(found, declared):
        return _only_null(value, name, declared)
    cast = try_cast(value, spark_type(declared))
    unchanged = cast.cast(spark_type(found)).eqNullSafe(value)
    return F.when(unchanged, cast).otherwise(_refuse(value.cast("string"), name, declared))


def text_guard(declared: str) -> str | None:
    """Regular expression for texts of this type; None if any text is valid."""
    if size := decimal_size(declared):
        scale = size[1]
        return rf"\A[+-]?(?:[0-9]+(?:\.[0-9]{{0,{scale}}}0*)?|\.[0-9]{{0,{scale}}}0*)\z"
    guard = _GUARDS.get(declared)
    return rf"\A{guard}\z" if guard else None


def is_sound(text: Column, declared: str, cast: Column | None = None) -> Column:
    """Whether the text is a valid value of the type, not an empty one; ``cast`` is its value or
    NULL."""
    guard = text_guard(declared)
    cast = try_cast(text, spark_type(declared)) if cast is None else cast
    sound = ((text != "") if guard is None else text.rlike(guard)) & cast.isNotNull()
    if declared in FLOATS:
        return sound & (F.abs(cast) != float("inf"))
    if declared == "timestamp":  # a time zone may shift a timestamp out of the years 1 to 9999
        first, last = (F.lit(bound).cast("timestamp") for bound in _TIMES)
        return sound & (cast >= first) & (cast <= last)
    return sound


def _nested(value: Column, name: str, found: str, declared: str) -> Column:
    """Field by field; a field of another shape must be NULL."""

    def part(value: Column, old: ColumnType, new: ColumnType) -> Column:
        if isinstance(old, str) and isinstance(new, str):
            return lossless_cast(value, name, old, new)
        return _only_null(value, name, type_text(new))

    old, new = parse_type(found), parse_type(declared)
    return _nested_cast(value, old, new, None if part_by_part(old, new) else part)


def _only_null(value: Column, name: str, declared: str) -> Column:
    """For types without a common value except NULL."""
    refused = _refuse(value.cast("string"), name, declared)
    return F.when(value.isNull(), F.lit(None)).otherwise(refused).cast(data_type_of(declared))


def _from_text(text: Column, name: str, declared: str) -> Column:
    return checked_cast(text, try_cast(text, spark_type(declared)), name, declared)


def checked_cast(text: Column, cast: Column, name: str, declared: str) -> Column:
    """``cast``, which is the text as the declared type or NULL, or an error for an invalid text.

    Its code is short: Java compiles no method of more than 8,000 bytes, which is all typed columns.
    """
    usual, sound = is_usual(text, cast, declared), is_sound(text, declared, cast)
    valid = sound if usual is None else usual | sound
    return F.when(valid, cast).when(text != "", _refuse(text, name, declared))


def is_usual(text: Column, cast: Column, declared: str) -> Column | None:
    """Whether the text is spelled as Spark spells the value, where that is found faster than by a
    regular expression."""
    if declared in INTEGERS or decimal_size(declared):
        return cast.cast("string") == text
    if declared == "boolean":
        return text.isin("true", "false")
    return None


def _refuse(text: Column, name: str, declared: str) -> Column:
    return refused_text(text, name, f"column {name}: ", f" {MISFIT} {declared}")


# Casts of nested values, field by field, because Spark casts structs by position.

Part = Callable[[Column, ColumnType, ColumnType], Column]
"""Converts a value whose shape differs between the types."""


def _nested_cast(
    value: Column, found: ColumnType, declared: ColumnType, part: Part | None = None
) -> Column:
    """``value`` as the declared type: fields by name, in the declared order; NULL stays NULL.

    Missing fields are NULL, undeclared ones are dropped. Without ``part``, ValueError unless
    ``part_by_part`` holds for the types.
    """
    cast = part or _plain
    if found == declared:
        return value
    match found, declared:
        case ArrayOf(element=old), ArrayOf(element=new):
            return F.transform(value, lambda item: _nested_cast(item, old, new, cast))
        case MapOf(), MapOf() if part_by_part(found.key, declared.key):
            return _map(value, found, declared, cast)
        case StructOf(), StructOf():
            return _struct(value, found, declared, cast)
    return cast(value, found, declared)


def nested_fits(value: Column, found: ColumnType, declared: ColumnType, part: Part) -> Column:
    """TRUE if ``part`` is TRUE for every value that ``nested_cast`` passes to it; never NULL."""
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
            fields = (nested_fits(value.getField(o[0]), o[1], new, part) for o, new in both if o)
            fits = reduce(and_, fields, F.lit(True))
        case _:
            return part(value, found, declared)
    return value.isNull() | fits


def part_by_part(found: ColumnType, declared: ColumnType) -> bool:
    """Whether every common field keeps its values in the declared type."""
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
    raise ValueError(f"{found} cannot be widened to {declared}")


def _struct(value: Column, found: StructOf, declared: StructOf, cast: Part) -> Column:
    fields = [_named(value, found, name, new, cast).alias(name) for name, new in declared.fields]
    return F.when(value.isNotNull(), F.struct(*fields))


def _named(value: Column, found: StructOf, name: str, new: ColumnType, cast: Part) -> Column:
    old = _field(found, name)
    if old is None:
        return F.lit(None).cast(data_type_of(type_text(new)))
    return _nested_cast(value.getField(old[0]), old[1], new, cast)


def _field(found: StructOf, name: str) -> tuple[str, ColumnType] | None:
    """The field with this name, else one whose name differs in case only."""
    alike = [field for field in found.fields if field[0].casefold() == name.casefold()]
    return next((field for field in alike if field[0] == name), alike[0] if alike else None)


def _map(value: Column, found: MapOf, declared: MapOf, cast: Part) -> Column:
    """Widening keeps distinct keys distinct."""
    keyed = F.transform_keys(value, lambda key, _: _nested_cast(key, found.key, declared.key, cast))
    return F.transform_values(
        keyed, lambda _, item: _nested_cast(item, found.value, declared.value, cast)
    )

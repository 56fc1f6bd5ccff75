"""Casts that keep the value or fail the run, naming column and value.

Spark's own casts, even under ANSI, drop a fraction, round a decimal, take blanks and control
characters for nothing and read ``2024`` as a date. Text is read here only in the spellings that
every engine understands alike; an empty text, even a quoted one, is NULL:

    byte, short, integer, long   12  -3  +7
    float, double                1.5  .5  2.  1e-3        not NaN, not Infinity
    decimal(p,s)                 1.50, with no digit but 0 after the scale
    boolean                      true  false, in any case
    date                         2013-12-31
    timestamp                    2013-12-31T23:59:59.123456Z, T or a blank; no zone means UTC
    timestamp_ntz                the same without a zone
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakeguard_sdk.schema import FLOATS, INTEGERS, decimal_size, is_nested, widens
from lakeguard_sdk.type_parser import parse_type
from lakeguard_sdk.type_tree import ColumnType, type_text
from openlaketx.conform.nested_casts import nested_cast, part_by_part
from openlaketx.engine.shown_values import refusal, shown
from openlaketx.engine.spark_types import data_type_of, spark_type
from openlaketx.engine.try_cast import has_cast, try_cast

_DATE = r"(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = r"[ T]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?"
_ZONE = r"(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])?"
_FLOAT = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"
_GUARDS = {
    **dict.fromkeys(INTEGERS, r"[+-]?[0-9]+"),
    "float": _FLOAT,
    "double": _FLOAT,
    "boolean": r"([tT][rR][uU][eE]|[fF][aA][lL][sS][eE])",
    "date": _DATE,
    "timestamp": _DATE + _TIME + _ZONE,
    "timestamp_ntz": _DATE + _TIME,
}
MISFIT = "is not a value of type"


def lossless_cast(value: Column, name: str, found: str, declared: str) -> Column:
    """``value`` as the declared type, equal in meaning, or an error at the first that is not."""
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
    kept = cast.cast(spark_type(found)).eqNullSafe(value)
    return F.when(kept, cast).otherwise(_refuse(value.cast("string"), name, declared))


def text_guard(declared: str) -> str | None:
    """The pattern of texts that are read as this type; None where any text is."""
    if size := decimal_size(declared):
        scale = size[1]
        return rf"\A[+-]?([0-9]+(\.[0-9]{{0,{scale}}}0*)?|\.[0-9]{{0,{scale}}}0*)\z"
    guard = _GUARDS.get(declared)
    return rf"\A{guard}\z" if guard else None


def is_sound(text: Column, declared: str) -> Column:
    """Whether a text that is not empty spells a value of the type."""
    guard, cast = text_guard(declared), try_cast(text, spark_type(declared))
    sound = cast.isNotNull() if guard is None else text.rlike(guard) & cast.isNotNull()
    if declared in FLOATS:
        return sound & (F.abs(cast) != float("inf"))
    if declared == "timestamp":  # a zone can carry a moment out of the years 1 to 9999
        return sound & F.year(cast).between(1, 9999)
    return sound


def _nested(value: Column, name: str, found: str, declared: str) -> Column:
    """Part by part; a part of another shape can only be NULL."""

    def part(value: Column, old: ColumnType, new: ColumnType) -> Column:
        if isinstance(old, str) and isinstance(new, str):
            return lossless_cast(value, name, old, new)
        return _only_null(value, name, type_text(new))

    old, new = parse_type(found), parse_type(declared)
    return nested_cast(value, old, new, None if part_by_part(old, new) else part)


def _only_null(value: Column, name: str, declared: str) -> Column:
    """For types that no other value has a meaning in both of."""
    told = _refuse(value.cast("string"), name, declared)
    return F.when(value.isNull(), F.lit(None)).otherwise(told).cast(data_type_of(declared))


def _from_text(text: Column, name: str, declared: str) -> Column:
    return (
        F.when(text.isNull() | (text == ""), F.lit(None))
        .when(is_sound(text, declared), try_cast(text, spark_type(declared)))
        .otherwise(_refuse(text, name, declared))
    )


def _refuse(text: Column, name: str, declared: str) -> Column:
    return refusal(f"column {name}: ", shown(text, name), f" {MISFIT} {declared}")

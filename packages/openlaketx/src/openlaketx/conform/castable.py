"""Which values a cast would keep, said without failing the run."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakeguard_sdk.schema import is_nested, widens
from lakeguard_sdk.type_parser import parse_type
from lakeguard_sdk.type_tree import ColumnType
from openlaketx.conform.casts import is_sound
from openlaketx.conform.nested_casts import nested_fits, part_by_part
from openlaketx.engine.spark_types import spark_type
from openlaketx.engine.try_cast import has_cast, try_cast


def is_castable(value: Column, found: str, declared: str) -> Column:
    """TRUE where ``lossless_cast`` keeps the value, FALSE where it would fail; never NULL."""
    if found == declared or widens(found, declared):
        return F.lit(True)
    if is_nested(found) or is_nested(declared):
        old, new = parse_type(found), parse_type(declared)
        return F.lit(True) if part_by_part(old, new) else nested_fits(value, old, new, _part_fits)
    if found == "string":
        return value.isNull() | (value == "") | F.coalesce(is_sound(value, declared), F.lit(False))
    if not has_cast(found, declared):
        return value.isNull()
    back = try_cast(value, spark_type(declared)).cast(spark_type(found))
    return back.eqNullSafe(value)


def _part_fits(value: Column, found: ColumnType, declared: ColumnType) -> Column:
    if isinstance(found, str) and isinstance(declared, str):
        return is_castable(value, found, declared)
    return value.isNull()

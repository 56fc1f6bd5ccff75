"""A cast that gives NULL where it cannot, on every Spark."""

from __future__ import annotations

from typing import Any

from pyspark import SparkContext
from pyspark.sql import Column

from lakeguard_sdk.plain_types import TIMES, is_numeric


def has_cast(found: str, declared: str) -> bool:
    """Whether Spark has any cast between two plain types; asked for another it fails the plan."""
    both = {found, declared}
    if "binary" in both:
        return both <= {"binary", "string"}
    if "boolean" in both:
        return both.isdisjoint(TIMES)
    return not (any(map(is_numeric, both)) and both & {"date", "timestamp_ntz"})


def try_cast(value: Column, data_type: str) -> Column:
    """``value`` as a plain type of Spark's SQL, or NULL."""
    if hasattr(type(value), "try_cast"):  # a column has whatever attribute it is asked for
        return value.try_cast(data_type)
    return _before_4(value, data_type)


def _before_4(value: Any, data_type: str) -> Column:
    """Spark 3.5 has the expression in its SQL, and no function for it."""
    context: Any = SparkContext._active_spark_context
    sql = context._jvm.org.apache.spark.sql
    expressions = sql.catalyst.expressions
    modes = getattr(getattr(expressions, "EvalMode$"), "MODULE$")
    kind = sql.types.DataType.fromDDL(data_type)
    no_zone = context._jvm.scala.Option.empty()
    return Column(sql.Column(expressions.Cast(value._jc.expr(), kind, no_zone, modes.TRY())))

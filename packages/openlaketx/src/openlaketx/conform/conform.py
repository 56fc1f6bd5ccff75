"""The declared columns, in their order and under their exact names; nothing else passes."""

from __future__ import annotations

from pyspark.sql import DataFrame

from lakeguard_sdk.errors import BuildFailed
from lakeguard_sdk.schema import TableSchema
from openlaketx.conform.casts import lossless_cast
from openlaketx.engine.spark_types import quoted_name


def conform(frame: DataFrame, live: TableSchema, declared: TableSchema, dataset: str) -> DataFrame:
    """Every value is what it was, in the declared type; one that cannot be fails the run.

    Columns that are not declared are left out: the verdict on the schema allowed it.
    """
    selected = []
    for column in declared.columns:
        found = live.type_of(column.name)
        if found is None:
            raise BuildFailed(dataset=dataset, reason=f"it has no column {column.name!r}")
        value = frame[quoted_name(column.name)]
        cast = lossless_cast(value, column.name, found, column.type)
        selected.append(cast.alias(column.name))
    return frame.select(*selected)

"""The declared columns, in their order and under their exact names; nothing else passes."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame

from lakeguard_sdk.errors import LoadFailed
from lakeguard_sdk.quarantine import FIRST_SEEN
from lakeguard_sdk.schema import TableSchema
from openlaketx.conform.casts import lossless_cast
from openlaketx.engine.spark_types import quoted_name
from openlaketx.extract.file_order import ROW_FILE


def conform(frame: DataFrame, live: TableSchema, declared: TableSchema, dataset: str) -> DataFrame:
    """Every value is what it was, in the declared type; one that cannot be fails the run.

    Columns that are not declared are left out: the verdict on the schema allowed it. Which file a
    row is from stays known, and when one that waited was first set aside.
    """
    if live.columns == declared.columns:
        return frame
    selected: list[Column | str] = []
    for column in declared.columns:
        found = live.type_of(column.name)
        if found is None:
            raise LoadFailed(dataset=dataset, reason=f"it has no column {column.name!r}")
        name = quoted_name(column.name)
        if found == column.type:
            selected.append(name)
            continue
        cast = lossless_cast(frame[name], column.name, found, column.type)
        selected.append(cast.alias(column.name))
    carried = {ROW_FILE, FIRST_SEEN} & set(frame.columns) - set(live.names)
    selected += sorted(carried)
    return frame.select(*selected)

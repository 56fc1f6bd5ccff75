"""What an operation column says, in the spellings of the usual feeds."""

from __future__ import annotations

from pyspark.sql import Column as SparkColumn
from pyspark.sql import functions as F

from lakeguard_sdk.load import Load
from openlaketx.engine.shown_values import refusal, shown
from openlaketx.engine.spark_types import quoted_name

UPSERTS = ("i", "insert", "c", "create", "r", "read", "u", "update", "upsert")
DELETIONS = ("d", "delete")


def deletes_row(load: Load) -> SparkColumn:
    """Whether the row deletes its key; an operation that is neither fails the run."""
    if not load.operation:
        return F.lit(False)
    value = F.col(quoted_name(load.operation))
    said = F.lower(F.trim(value))
    known = ", ".join((*UPSERTS, *DELETIONS))
    unknown = refusal(
        f"{load.operation} is ", shown(value, load.operation), f", which is none of {known}"
    )
    return (
        F.when(said.isin(*DELETIONS), F.lit(True))
        .when(said.isin(*UPSERTS), F.lit(False))
        .otherwise(unknown.cast("boolean"))
    )

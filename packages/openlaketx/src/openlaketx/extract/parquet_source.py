"""Parquet files as one frame; their footers say what it holds."""

from __future__ import annotations

from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from lakeguard_sdk.run import SourceBuild
from lakeguard_sdk.schema import TableSchema
from lakeguard_sdk.storage import Storage, local_path
from openlaketx.engine.parquet_types import UnsupportedColumn, table_schema
from openlaketx.engine.places import spark_read_path
from openlaketx.engine.spark_errors import reason
from openlaketx.engine.spark_types import spark_schema
from openlaketx.extract.batch import Batch, name_problem
from openlaketx.extract.manifest import Selection


def read_parquet(
    session: SparkSession, build: SourceBuild, selection: Selection, storage: Storage
) -> Batch:
    """Every file has the same columns; types that no column has are refused by name."""
    if build.options:
        raise selection.unreadable(f"Parquet has no option {min(build.options)!r}")
    live = _live_schema(selection)
    paths = [spark_read_path(location) for location in selection.locations]
    return Batch(
        frame=session.read.schema(spark_schema(live)).parquet(*paths),
        live=live,
        inputs=(),
        position=selection.position,
        explain=lambda error: selection.unreadable(reason(error)),
        confirm=partial(selection.confirm, storage),
    )


def _live_schema(selection: Selection) -> TableSchema:
    live: TableSchema | None = None
    for file in selection.files:
        try:
            found = table_schema(pq.read_metadata(local_path(selection.location(file))))
        except (UnsupportedColumn, pa.ArrowException, OSError) as error:
            raise selection.unreadable(f"{file.path}: {error}") from None
        if live is None:
            live = found
            if problem := name_problem(live.names):
                raise selection.unreadable(f"{file.path}: {problem}")
        elif set(found.columns) != set(live.columns):
            odd = min(column.name for column in {*found.columns} ^ {*live.columns})
            raise selection.unreadable(
                f"{file.path} has other columns than {selection.files[0].path}: look at {odd!r}"
            )
    if live is None:
        raise selection.unreadable("no file to read")
    return live

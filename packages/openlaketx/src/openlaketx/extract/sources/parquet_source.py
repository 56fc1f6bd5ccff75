"""Parquet files as one frame; the schema is from their footers."""

from __future__ import annotations

from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from lakeguard_sdk.model.evidence import SourceFile
from lakeguard_sdk.model.run import SourceBuild
from lakeguard_sdk.storage.storage import Storage, readable_file
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.engine.locations import spark_read_path
from openlaketx.engine.parquet_types import UnsupportedColumn, table_schema
from openlaketx.engine.spark.errors import reason
from openlaketx.engine.spark.types import spark_schema
from openlaketx.extract.batch import Batch, name_problem
from openlaketx.extract.files.file_columns import (
    Declared,
    Misfit,
    SameName,
    clean_names,
    joint_columns,
)
from openlaketx.extract.files.file_order import file_order, with_row_file
from openlaketx.extract.files.manifest import Selection


def read_parquet(
    session: SparkSession,
    build: SourceBuild,
    selection: Selection,
    storage: Storage,
    declared: Declared,
) -> Batch:
    """A column must have one type in all files; unsupported types are rejected by name."""
    if build.options:
        raise selection.unreadable(f"unknown Parquet option {min(build.options)!r}")
    live = _live_schema(selection, declared)
    paths = [spark_read_path(selection.spark_location(file)) for file in selection.files]
    frame = session.read.schema(spark_schema(live)).parquet(*paths)
    return Batch(
        frame=with_row_file(frame, selection),
        live=live,
        inputs=(),
        position=selection.position,
        explain=lambda error: selection.unreadable(reason(error)),
        confirm=partial(selection.confirm, storage),
        order=file_order(selection),
    )


def _live_schema(selection: Selection, declared: Declared) -> TableSchema:
    """Union of the columns; Spark reads NULL where a file lacks one."""
    schemas = {file.path: _schema(selection, file) for file in selection.files}
    known: dict[str, Column] = {}
    for path, schema in schemas.items():
        for column in schema.columns:
            if known.setdefault(column.name, column) != column:
                raise selection.unreadable(
                    f"column {column.name!r} of {path} differs from {selection.files[0].path}"
                )
    cleaned = {path: _clean(selection, path, schema, declared) for path, schema in schemas.items()}
    try:
        joint_columns(cleaned, declared)
    except Misfit as problem:
        raise selection.unreadable(str(problem)) from None
    if problem_text := name_problem(tuple(known)):
        raise selection.unreadable(problem_text)
    return TableSchema(columns=tuple(known.values()))


def _schema(selection: Selection, file: SourceFile) -> TableSchema:
    try:
        found = table_schema(pq.read_metadata(readable_file(selection.location(file))))
    except (UnsupportedColumn, pa.ArrowException, OSError) as error:
        raise selection.unreadable(f"{file.path}: {error}") from None
    if problem := name_problem(found.names):
        raise selection.unreadable(f"{file.path}: {problem}")
    return found


def _clean(
    selection: Selection, path: str, schema: TableSchema, declared: Declared
) -> tuple[str, ...]:
    try:
        return clean_names(schema.names, declared.names)
    except SameName as problem:
        raise selection.unreadable(f"{path}: {problem}") from None

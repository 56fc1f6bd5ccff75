"""Parquet files and Delta tables: they say themselves what they hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake.exceptions import DeltaError, TableNotFoundError

from lakeguard_sdk.errors import NothingToLookAt
from lakeguard_sdk.schema import TableSchema
from lakeguard_sdk.storage import join
from openlaketx.engine.delta_table import live_files, open_table, protocol_problem, schema_of
from openlaketx.engine.parquet_types import UnsupportedColumn, table_schema
from openlaketx.extract.batch import name_problem
from openlaketx.inspect.limits import Limits
from openlaketx.inspect.seen_rows import SeenRows


@dataclass(frozen=True)
class DeltaFiles:
    schema: TableSchema
    files: tuple[str, ...]


def parquet_schema(files: Sequence[str]) -> TableSchema:
    """The columns that all files have; others are refused, as a run would."""
    first: TableSchema | None = None
    for file in files:
        try:
            found = table_schema(pq.read_metadata(file))
        except (UnsupportedColumn, pa.ArrowException, OSError) as problem:
            raise NothingToLookAt(pattern=file, reason=str(problem)) from None
        if problem_text := name_problem(found.names):
            raise NothingToLookAt(pattern=file, reason=problem_text)
        if first is not None and set(found.columns) != set(first.columns):
            reason = "it has other columns than the files before"
            raise NothingToLookAt(pattern=file, reason=reason)
        first = first or found
    if first is None:
        raise NothingToLookAt(pattern="*.parquet", reason="there is no file")
    return first


def delta_files(folder: str) -> DeltaFiles:
    """The table as it is now."""
    try:
        table = open_table(folder)
        problem = protocol_problem(table)
        schema = schema_of(table)
    except (DeltaError, TableNotFoundError, ValueError) as error:
        line = next(iter(str(error).splitlines()), type(error).__name__)
        raise NothingToLookAt(pattern=folder, reason=line) from None
    if problem:
        raise NothingToLookAt(pattern=folder, reason=problem)
    return DeltaFiles(schema, tuple(join(folder, path) for path in sorted(live_files(table))))


def take_rows(files: Sequence[str], columns: Sequence[str], rows: SeenRows, limits: Limits) -> bool:
    """The first rows of each file; whether that was all of them."""
    whole = True
    for file in files:
        whole = whole and pq.read_metadata(file).num_rows <= limits.rows
        rows.add_parquet(file, columns, limits.rows)
    return whole

"""Parquet files and Delta tables, which have a schema of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from deltalake.exceptions import DeltaError, TableNotFoundError

from lakeguard_sdk.core.enums import SourceFormat
from lakeguard_sdk.errors import NotAdoptable, SourceNotInspectable
from lakeguard_sdk.model.source_preview import PreviewColumn, SourcePreview
from lakeguard_sdk.storage.storage import join, readable_file, storage_for
from lakeguard_sdk.types.schema import TableSchema
from openlaketx.engine.delta_table import (
    live_files,
    open_table,
    partition_texts,
    protocol_problem,
    schema_of,
)
from openlaketx.engine.parquet_types import UnsupportedColumn, table_schema
from openlaketx.engine.shown_values import masked_message
from openlaketx.extract.batch import name_problem
from openlaketx.measure.duckdb_columns import rows_with_log_columns
from openlaketx.source_inspection.keys import KeyColumn, find_keys
from openlaketx.source_inspection.measures import Ask, asked_of_table
from openlaketx.source_inspection.sample_rows import Limits, SampleColumn, SampleRows


@dataclass(frozen=True)
class DeltaFiles:
    schema: TableSchema
    files: tuple[str, ...]


def parquet_schema(files: Sequence[str]) -> TableSchema:
    """The common columns of all files; other files are refused, as in a run."""
    first: TableSchema | None = None
    for file in files:
        try:
            found = table_schema(pq.read_metadata(readable_file(file)))
        except (UnsupportedColumn, pa.ArrowException, OSError) as problem:
            raise SourceNotInspectable(pattern=file, reason=str(problem)) from None
        if problem_text := name_problem(found.names):
            raise SourceNotInspectable(pattern=file, reason=problem_text)
        if first is not None and set(found.columns) != set(first.columns):
            reason = "its columns differ from those of the other files"
            raise SourceNotInspectable(pattern=file, reason=reason)
        first = first or found
    if first is None:
        raise SourceNotInspectable(pattern="*.parquet", reason="no file matches")
    return first


def delta_files(folder: str) -> DeltaFiles:
    """The table as it is now."""
    try:
        table = open_table(folder)
        problem = protocol_problem(table)
        schema = schema_of(table)
    except (DeltaError, TableNotFoundError, ValueError) as error:
        line = next(iter(str(error).splitlines()), type(error).__name__)
        raise SourceNotInspectable(pattern=folder, reason=line) from None
    if problem:
        raise SourceNotInspectable(pattern=folder, reason=problem)
    return DeltaFiles(schema, tuple(join(folder, path) for path in sorted(live_files(table))))


def take_rows(
    files: Sequence[str], columns: Sequence[str], rows: SampleRows, limits: Limits
) -> bool:
    """The first rows of each file; returns whether these were all rows."""
    whole = True
    for file in files:
        whole = whole and pq.read_metadata(readable_file(file)).num_rows <= limits.rows
        rows.add_parquet(file, columns, limits.rows)
    return whole


# A whole Delta table: the preview holds for every row.

_WAY_OUT = "restore the file, or delete its rows from the table, then adopt again"


def inspect_table(folder: str, rows: SampleRows, ask: Ask | None = None) -> SourcePreview:
    """The table's columns, including partition columns; nothing is copied.

    ``NotAdoptable`` names the file that cannot be read.
    """
    table = delta_files(folder)
    try:
        return _sketch(folder, table, rows, ask)
    except (duckdb.OutOfMemoryException, duckdb.InterruptException):
        raise
    except duckdb.Error as error:
        line = next(iter(str(error).splitlines()), "")
        message = masked_message(line, type(error).__name__)
        reason = _unreadable(table.files) or f"its files cannot be read: {message}"
        raise NotAdoptable(location=folder, reason=reason, way_out=_WAY_OUT) from None


def _unreadable(files: Sequence[str]) -> str | None:
    """The first file with unreadable rows, if any."""
    for file in files:
        try:
            with pq.ParquetFile(readable_file(file)) as content:
                for _ in content.iter_batches():
                    pass
        except (pa.ArrowException, OSError) as error:
            line = next(iter(str(error).splitlines()), type(error).__name__)
            return f"file {file} cannot be read: {line}"
    return None


def _sketch(folder: str, table: DeltaFiles, rows: SampleRows, ask: Ask | None) -> SourcePreview:
    paths = [file.removeprefix(f"{folder.rstrip('/')}/") for file in table.files]
    texts = partition_texts(open_table(folder))
    lacking = {path: texts[path] for path in paths}
    relation, values = rows_with_log_columns(folder, table.schema, paths, lacking)
    rows.show(relation, values, table.schema.names)
    nulls = _nulls(rows, len(table.schema.columns))
    seen = [
        SampleColumn(at, column.name, column.type, nulls[at])
        for at, column in enumerate(table.schema.columns)
    ]
    filled = [KeyColumn(one.at, one.name, one.type) for one in seen if not one.nulls]
    sketch = SourcePreview(
        format=SourceFormat.DELTA,
        columns=tuple(
            PreviewColumn(name=one.name, type=one.type, found_as=one.name, nulls=one.nulls)
            for one in seen
        ),
        keys=find_keys(rows, filled),
        files=len(paths),
        files_found=len(paths),
        rows=rows.count,
        bytes=sum(storage_for(file).facts(file).size for file in table.files),
        whole=True,
    )
    if ask is None or not rows.count:
        return sketch
    return asked_of_table(sketch, seen, ask, location=folder, paths=paths, lacking=lacking)


def _nulls(rows: SampleRows, width: int) -> list[int]:
    asked = ", ".join(f"count(*) - count(c{index:d})" for index in range(width))
    return [int(count) for count in rows.ask(f"SELECT {asked} FROM seen")[0]]  # noqa: S608

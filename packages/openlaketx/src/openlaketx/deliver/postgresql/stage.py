"""Loads the rows of a version into a temporary, unlogged staging table."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

import psycopg
import pyarrow as pa
import pyarrow.compute as pc
from psycopg import sql
from pyarrow import csv

from lakeguard_sdk.core.enums import TargetFormat
from lakeguard_sdk.model.read_models import ResolvedDataset
from openlaketx.deliver.postgresql.connection import Connection
from openlaketx.deliver.postgresql.table import columns_sql
from openlaketx.deliver.published_rows import (
    check_rows,
    row_count,
    rows_relation,
    shown_files,
)
from openlaketx.deliver.published_version import failed
from openlaketx.deliver.text_formats import spelled
from openlaketx.engine.duckdb_reader import DuckdbReader, duckdb_reader
from openlaketx.measure.sql.condition_sql import quoted

STAGING = sql.Identifier("pg_temp", "lakeguard_staging")
_ROWS_AT_ONCE = 10_000
_CSV = csv.WriteOptions(include_header=False, quoting_style="needed")
"""Quotes every text, so that an unquoted empty field is NULL."""
_COLUMN = re.compile(r", column (.+?)(?:: |$)", re.MULTILINE)

_CREATE = sql.SQL("CREATE TEMPORARY TABLE {} ({}) ON COMMIT DROP")
_NEEDED = sql.SQL("ALTER TABLE {} ALTER COLUMN {} SET NOT NULL")
_FILL = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT csv)")
_UNIQUE = sql.SQL("CREATE UNIQUE INDEX ON {} ({})")
_ANALYSE = sql.SQL("ANALYZE {}")


def stage_rows(
    connection: Connection, columns: dict[str, str], shown: ResolvedDataset, key: tuple[str, ...]
) -> int:
    """Loads all rows and returns their count; duplicate or NULL keys are refused."""
    connection.execute(_CREATE.format(STAGING, columns_sql(columns)))
    for name in key:
        connection.execute(_NEEDED.format(STAGING, sql.Identifier(name)))
    rows = _fill(connection, shown, columns)
    if key:
        _check_unique(connection, shown, key)
    connection.execute(_ANALYSE.format(STAGING))
    return rows


def _fill(connection: Connection, shown: ResolvedDataset, kinds: dict[str, str]) -> int:
    columns = sql.SQL(", ").join(map(sql.Identifier, shown.table_schema.names))
    with duckdb_reader() as reader, connection.cursor() as cursor:
        files = shown_files(shown, reader)
        query, parameters = rows_relation(shown, files)
        try:
            with cursor.copy(_FILL.format(STAGING, columns)) as copy:
                for lines in _lines(shown, reader, _as_wide(shown, query, kinds), parameters):
                    copy.write(lines)
        except psycopg.errors.NotNullViolation as error:
            column = error.diag.column_name
            raise failed(shown, f"key column {column} is NULL in a row") from None
        except psycopg.DataError as error:
            raise failed(shown, _error_text(error)) from None
        check_rows(shown, cursor.rowcount, row_count(files))
        return cursor.rowcount


def _lines(
    shown: ResolvedDataset, reader: DuckdbReader, relation: str, parameters: dict[str, list[str]]
) -> Iterator[bytes]:
    columns = ", ".join(
        spelled(column, TargetFormat.POSTGRESQL) for column in shown.table_schema.columns
    )
    query = f"SELECT {columns} FROM {relation}"  # noqa: S608 - names are quoted, files are bound
    for batch in reader.batches(query, parameters, _ROWS_AT_ONCE):
        _check_texts(shown, batch)
        lines = io.BytesIO()
        csv.write_csv(batch, lines, _CSV)
        yield lines.getvalue()


def _as_wide(shown: ResolvedDataset, relation: str, kinds: dict[str, str]) -> str:
    """The rows, with floats cast to double where the column is a double."""
    wider = [
        column.name
        for column in shown.table_schema.columns
        if column.type == "float" and kinds[column.name] == "double precision"
    ]
    casts = ", ".join(f"CAST({quoted(name)} AS DOUBLE) AS {quoted(name)}" for name in wider)
    replaced = f"(SELECT * REPLACE ({casts}) FROM {relation})"  # noqa: S608 - names are quoted
    return replaced if casts else relation


def _check_texts(shown: ResolvedDataset, batch: pa.RecordBatch) -> None:
    for column, values in zip(shown.table_schema.columns, batch.columns, strict=True):
        if column.type == "string" and pc.any(pc.match_substring(values, "\0")).as_py():
            raise failed(
                shown,
                f"a text in column {column.name} contains the character NUL, which PostgreSQL"
                " cannot store: remove it in the build or in the target's transform",
            )


def _check_unique(connection: Connection, shown: ResolvedDataset, key: tuple[str, ...]) -> None:
    names = sql.SQL(", ").join(map(sql.Identifier, key))
    try:
        connection.execute(_UNIQUE.format(STAGING, names))
    except psycopg.errors.UniqueViolation:
        listed = ", ".join(key)
        raise failed(
            shown,
            f"two rows have the same key ({listed}): make unique({listed}) a rule, or leave the"
            " keys out of load",
        ) from None


def _error_text(error: psycopg.DataError) -> str:
    """The error and its column, without the value, which may be private."""
    found = _COLUMN.search(error.diag.context or "")
    where = f"column {found[1]}: " if found else ""
    return f"{where}{type(error).__name__} ({error.sqlstate})"

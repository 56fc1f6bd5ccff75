"""A table or view of PostgreSQL as one frame."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from lakeguard_sdk.evidence import SourcePosition
from lakeguard_sdk.run import SourceBuild
from lakeguard_sdk.schema import Column, TableSchema
from lakeguard_sdk.spelling import did_you_mean
from openlaketx.extract.batch import Batch, name_problem
from openlaketx.extract.jdbc_columns import (
    DatabaseColumn,
    UnsupportedColumn,
    database_column,
    identifier,
    literal,
)
from openlaketx.extract.jdbc_database import Database
from openlaketx.extract.jdbc_slices import SLICE, bounds_query, predicates, slice_column

OPTIONS = ("fetch_size", "slice_by", "slices")

_CATALOGUE = """
SELECT a.attnum::integer AS place, a.attname::text AS name, (t.typtype = 'e') AS is_enum,
       format_type(CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE a.atttypid END,
                   CASE t.typtype WHEN 'd' THEN t.typtypmod ELSE a.atttypmod END) AS sql_type
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
WHERE a.attrelid = to_regclass({table}) AND a.attnum > 0 AND NOT a.attisdropped
"""


def read_jdbc(
    session: SparkSession, build: SourceBuild, dataset: str, where: str | None = None
) -> Batch:
    """The rows, in the types that ``jdbc_columns`` names; ``where`` is the database's own SQL.

    One statement, and so one state of the table, unless the source asks for slices.
    """
    database = Database.of(session, build, dataset)
    _check_options(database)
    columns = _columns(database)
    rows = f"FROM {_table(database)}" + (f" WHERE {where}" if where else "")
    raw = _frame(database, columns, rows)
    return Batch(
        frame=raw.select(*(column.value().alias(column.name) for column in columns)),
        live=TableSchema(columns=tuple(Column(name=c.name, type=c.type) for c in columns)),
        inputs=(),
        position=SourcePosition(),
        explain=database.explain,
        confirm=lambda: None,
    )


def _check_options(database: Database) -> None:
    options = database.build.options
    for key in options:
        if key not in OPTIONS:
            raise database.unreadable(
                f"unknown database option {key!r}{did_you_mean(key, OPTIONS)}"
            )
    size = options.get("fetch_size", "1")
    if not size.isdecimal() or int(size) < 1:
        raise database.unreadable(f"fetch_size is a number of rows, not {size!r}")


def _columns(database: Database) -> list[DatabaseColumn]:
    found = database.answer(_CATALOGUE.format(table=literal(_table(database))))
    if not found:
        raise database.unreadable(f"there is no table or view {database.build.object}")
    try:
        columns = [
            database_column(row["name"], row["sql_type"], enum=row["is_enum"])
            for row in sorted(found, key=lambda row: int(row["place"]))
        ]
    except UnsupportedColumn as problem:
        raise database.unreadable(str(problem)) from None
    if told := name_problem(tuple(column.name for column in columns)):
        raise database.unreadable(told)
    return columns


def _frame(database: Database, columns: list[DatabaseColumn], rows: str) -> DataFrame:
    selected = [f"{column.expression} AS {identifier(column.name)}" for column in columns]
    try:
        sliced = slice_column(database.build.options, columns)
    except ValueError as problem:
        raise database.unreadable(str(problem)) from None
    if sliced is None:
        return database.frame(f"SELECT {', '.join(selected)} {rows}")
    column, slices = sliced
    asked = database.answer(bounds_query(column, slices, rows))
    inner = [row["bound"] for row in sorted(asked, key=lambda row: int(row["i"]))]
    bounds = dict.fromkeys(bound for bound in inner if bound is not None)
    selected.append(f"{identifier(column.name)} AS {SLICE}")
    return database.frame(f"SELECT {', '.join(selected)} {rows}", predicates(column, bounds))


def _table(database: Database) -> str:
    """``schema.table`` or ``table``, each part quoted: names are taken as they stand."""
    parts = database.build.object.split(".")
    if len(parts) > 2 or not all(parts):
        raise database.unreadable(
            f"{database.build.object!r} names no table: the dataset's object is schema.table"
        )
    return ".".join(identifier(part) for part in parts)

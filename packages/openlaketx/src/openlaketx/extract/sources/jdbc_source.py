"""A PostgreSQL table or view as one frame."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from pyspark.sql import DataFrame, Row, SparkSession

from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.core.enums import Layer
from lakeguard_sdk.errors import LakeGuardError, SourceUnreadable
from lakeguard_sdk.model.delivery import MARKERS
from lakeguard_sdk.model.evidence import SourcePosition
from lakeguard_sdk.model.run import SourceBuild
from lakeguard_sdk.security.secret_references import resolve_all, without
from lakeguard_sdk.types.schema import Column, TableSchema, decimal_size
from openlaketx.engine.spark.errors import SPARK_ERRORS, causes, reason
from openlaketx.engine.spark.jars import DELTA
from openlaketx.extract.batch import Batch, name_problem
from openlaketx.extract.sources.jdbc_columns import (
    SLICEABLE,
    DatabaseColumn,
    UnsupportedColumn,
    database_column,
    identifier,
    literal,
)

# PostgreSQL through Spark's JDBC reader; only Spark gets user and password.

_DRIVER = "org.postgresql.Driver"
_SCHEME = "jdbc:postgresql:"
_ROWS_AT_ONCE = "10000"
_CONNECT_SECONDS = "10"
_REFUSED_LOGIN = re.compile(
    r"authentication failed|no password was provided|password-based auth", re.I
)

Answer = TypeVar("Answer")


@dataclass(frozen=True, repr=False)
class Database:
    """Connection options, and error messages without secrets."""

    session: SparkSession
    build: SourceBuild
    dataset: str
    secrets: dict[str, str]

    @classmethod
    def of(cls, session: SparkSession, build: SourceBuild, dataset: str) -> Database:
        """Raises if the URL is not PostgreSQL, or a secret is unavailable."""
        if not build.url.startswith(_SCHEME):
            raise SourceUnreadable(
                source=build.source,
                reason=f"its url does not start with {_SCHEME}",
                dataset=dataset,
            )
        return cls(session, build, dataset, resolve_all(build.secrets))

    def frame(self, query: str, predicates: list[str] | None = None) -> DataFrame:
        """The lazy rows of the query; one partition per predicate."""
        url, table = self._filled(self.build.url), f"({query}) AS lg_rows"
        read = self.session.read.jdbc
        if predicates:
            return self._query(
                lambda: read(url, table, predicates=predicates, properties=self._properties())
            )
        return self._query(lambda: read(url, table, properties=self._properties()))

    def answer(self, query: str) -> list[Row]:
        return self._query(self.frame(query).collect)

    def unreadable(self, why: str) -> SourceUnreadable:
        reason = without(why, self.secrets.values())
        return SourceUnreadable(source=self.build.source, reason=reason, dataset=self.dataset)

    def explain(self, error: Exception) -> LakeGuardError:
        if causes(error)[-1].strip() == _DRIVER:
            return DELTA.missing(f"this Spark was started without {_DRIVER}")
        message = reason(error)
        if _REFUSED_LOGIN.search(message):
            message += "; check user and password under secrets: of the source"
        return self.unreadable(message)

    def _query(self, ask: Callable[[], Answer]) -> Answer:
        try:
            return ask()
        except SPARK_ERRORS as error:
            raise self.explain(error) from None

    def _filled(self, url: str) -> str:
        for name, value in self.secrets.items():
            url = url.replace("{" + name + "}", value)
        return url

    def _properties(self) -> dict[str, str]:
        return {
            "driver": _DRIVER,
            "fetchsize": self.build.options.get("fetch_size", _ROWS_AT_ONCE),
            "connectTimeout": _CONNECT_SECONDS,
            "ApplicationName": "openlaketx",
            **{key: self.secrets[key] for key in ("user", "password") if key in self.secrets},
        }


# Large tables are read in slices, over several connections.

SLICE = "lg_slice"
"""Raw copy of the slice column, so that its index can be used."""
MOST_SLICES = 64
_SLICES = "4"


def slice_column(
    options: Mapping[str, str], columns: Iterable[DatabaseColumn]
) -> tuple[DatabaseColumn, int] | None:
    """The column and the number of slices; ValueError if they are invalid."""
    name, number = options.get("slice_by", ""), options.get("slices", _SLICES)
    if not name and "slices" in options:
        raise ValueError("slices requires slice_by, the column to slice by")
    if not number.isdecimal() or not 1 <= int(number) <= MOST_SLICES:
        raise ValueError(f"slices must be a number from 1 to {MOST_SLICES}, not {number!r}")
    if not name:
        return None
    known = {column.name: column for column in columns}
    if name not in known:
        raise ValueError(f"slice_by: unknown column {name!r}{did_you_mean(name, known)}")
    column = known[name]
    if column.type not in SLICEABLE and not decimal_size(column.type):
        raise ValueError(f"slice_by: column {name} is {column.sql_type}, which cannot be sliced")
    return column, int(number)


def bounds_query(column: DatabaseColumn, slices: int, rows: str) -> str:
    """Inner bounds of equal parts of the range; NULL if there is no value."""
    name = identifier(column.name)
    if column.type == "date":
        bound = f"low + (((high - low)::bigint * i) / {slices})::integer"
    elif column.type.startswith("timestamp"):
        bound = f"low + (high - low) * (i::double precision / {slices})"
    else:
        bound = f"floor(low::numeric + (high::numeric - low::numeric) * i / {slices})"
    ends = f"SELECT min({name}) AS low, max({name}) AS high {rows}"
    series = f"generate_series(1, {slices - 1}) i"
    return f"SELECT i, ({bound})::text AS bound FROM ({ends}) ends, {series}"  # noqa: S608 (quoted)


def predicates(column: DatabaseColumn, bounds: Iterable[str]) -> list[str]:
    """Every row matches exactly one: first and last slice are open, NULL is in the first."""
    inner = [f"{literal(bound)}::{column.sql_type}" for bound in bounds]
    if not inner:
        return []
    return [
        f"{SLICE} < {inner[0]} OR {SLICE} IS NULL",
        *(f"{SLICE} >= {low} AND {SLICE} < {high}" for low, high in pairwise(inner)),
        f"{SLICE} >= {inner[-1]}",
    ]


OPTIONS = ("fetch_size", "slice_by", "slices")

_CATALOGUE = """
SELECT a.attnum::integer AS place, a.attname::text AS name, (t.typtype = 'e') AS is_enum,
       pg_catalog.format_type(CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE a.atttypid END,
                              CASE t.typtype WHEN 'd' THEN t.typtypmod ELSE a.atttypmod END
       ) AS sql_type
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
WHERE a.attrelid = pg_catalog.to_regclass({table}) AND a.attnum > 0 AND NOT a.attisdropped
"""
_BESIDE_MARKERS = """
WITH RECURSIVE below(id) AS (
  SELECT pg_catalog.to_regclass({table})::pg_catalog.oid
  UNION
  SELECT next.id
  FROM below CROSS JOIN LATERAL (
    SELECT d.refobjid
    FROM pg_catalog.pg_rewrite r
    JOIN pg_catalog.pg_depend d ON d.objid = r.oid
      AND d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
    WHERE r.ev_class = below.id
      AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
    UNION ALL
    SELECT i.inhrelid FROM pg_catalog.pg_inherits i WHERE i.inhparent = below.id
  ) AS next(id))
SELECT n.nspname::pg_catalog.text AS place, c.relname::pg_catalog.text AS name,
       pg_catalog.has_schema_privilege(n.oid, 'usage')
       AND pg_catalog.has_table_privilege(m.oid, 'select') AS is_readable
FROM below JOIN pg_catalog.pg_class c ON c.oid = id
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_class m ON m.relnamespace = n.oid AND m.relname = {markers}
WHERE pg_catalog.split_part(c.relname, '_', 1) IN ({layers})
"""
"""The table, the tables below the view, and those that inherit from them, that may be delivered: by
schema and name. Functions of the schemas that a source searches do not take the place of
PostgreSQL's own."""


def read_jdbc(
    session: SparkSession, build: SourceBuild, dataset: str, where: str | None = None
) -> Batch:
    """The rows in the types of ``jdbc_columns``; ``where`` is SQL of the database.

    One statement, and so one snapshot of the table, unless the source configures slices.
    """
    database = Database.of(session, build, dataset)
    _check_options(database)
    columns = _columns(database)
    _refuse_delivered(database)
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
        raise database.unreadable(f"fetch_size must be a number of rows, not {size!r}")


def _columns(database: Database) -> list[DatabaseColumn]:
    found = database.answer(_CATALOGUE.format(table=literal(_table(database))))
    if not found:
        raise database.unreadable(f"table or view {database.build.object} does not exist")
    try:
        columns = [
            database_column(row["name"], row["sql_type"], enum=row["is_enum"])
            for row in sorted(found, key=lambda row: int(row["place"]))
        ]
    except UnsupportedColumn as problem:
        raise database.unreadable(str(problem)) from None
    if invalid := name_problem(tuple(column.name for column in columns)):
        raise database.unreadable(invalid)
    return columns


def _refuse_delivered(database: Database) -> None:
    """Rows that LakeGuard delivered are read by name: a table would lose their tags and lineage.
    Where the markers cannot be read, the name of the table decides."""
    layers = ", ".join(literal(layer.value) for layer in Layer)
    table, markers = literal(_table(database)), literal(MARKERS)
    query = _BESIDE_MARKERS.format(table=table, markers=markers, layers=layers)
    for row in database.answer(query):
        place, name = row["place"], row["name"]
        marked = f"{identifier(place)}.{MARKERS} WHERE table_name = {literal(name)}"
        if row["is_readable"] and not database.answer(f"SELECT dataset FROM {marked}"):  # noqa: S608
            continue
        parent = name.replace("_", ".", 1)
        raise database.unreadable(
            f"{place}.{name} is a delivered table; read it by name: `parents: [{parent}]`"
        )


def _frame(database: Database, columns: list[DatabaseColumn], rows: str) -> DataFrame:
    selected = [f"{column.expression} AS {identifier(column.name)}" for column in columns]
    try:
        sliced = slice_column(database.build.options, columns)
    except ValueError as problem:
        raise database.unreadable(str(problem)) from None
    if sliced is None:
        return database.frame(f"SELECT {', '.join(selected)} {rows}")
    column, slices = sliced
    answer = database.answer(bounds_query(column, slices, rows))
    inner = [row["bound"] for row in sorted(answer, key=lambda row: int(row["i"]))]
    bounds = dict.fromkeys(bound for bound in inner if bound is not None)
    selected.append(f"{identifier(column.name)} AS {SLICE}")
    return database.frame(f"SELECT {', '.join(selected)} {rows}", predicates(column, bounds))


def _table(database: Database) -> str:
    """``schema.table`` or ``table``, each part quoted: names are case-sensitive."""
    parts = database.build.object.split(".")
    if len(parts) > 2 or not all(parts):
        raise database.unreadable(
            f"{database.build.object!r} is not a table name: the dataset's object is schema.table"
        )
    return ".".join(identifier(part) for part in parts)

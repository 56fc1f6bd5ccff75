"""PostgreSQL columns as column types, each with the SQL that reads it exactly.

    boolean, smallint, integer, bigint     boolean, short, integer, long
    real, double precision                 float, double
    numeric(p,s), of 38 digits at most     decimal(p,s)
    text, varchar, char, uuid, json, enum  string; char without its padding
    bytea                                  binary
    date                                   date
    timestamp with, without time zone      timestamp, timestamp_ntz

Dates and times are transferred as days and microseconds, because Java's calendar shifts those
before 1582. A value that is infinite, or outside the years 1 to 9999, fails the query, which names
it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pyspark.sql import Column as SparkColumn
from pyspark.sql import functions as F

from lakeguard_sdk.types.schema import normal_type
from openlaketx.engine.spark.types import quoted_name, spark_type

_PLAIN = {
    "boolean": "boolean",
    "smallint": "short",
    "integer": "integer",
    "bigint": "long",
    "real": "float",
    "double precision": "double",
    "bytea": "binary",
}
_TEXTS = ("text", "character varying", "character", "uuid", "json", "jsonb")
_TIMES = {
    "timestamp without time zone": "timestamp_ntz",
    "timestamp with time zone": "timestamp",
}
_SIZE = re.compile(r"\(([0-9]+)(?:,(-?[0-9]+))?\)")
SLICEABLE = ("short", "integer", "long", "date", "timestamp", "timestamp_ntz")


class UnsupportedColumn(ValueError):
    """Why a column has no column type, and how to read it anyway."""


@dataclass(frozen=True)
class DatabaseColumn:
    """A column of the table and its type in the dataset."""

    name: str
    sql_type: str
    type: str

    @property
    def expression(self) -> str:
        """SQL expression that the query selects."""
        name = identifier(self.name)
        if self.type == "string":
            return f"{name}::text"
        if self.type == "date":
            return self._within(f"{name} - DATE '1970-01-01'", "integer")
        if self.type in ("timestamp", "timestamp_ntz"):
            seconds = f"extract(epoch FROM date_trunc('second', {name}))::bigint"
            rest = f"extract(microseconds FROM {name})::bigint % 1000000"
            return self._within(f"{seconds} * 1000000 + {rest}", "bigint")
        return name

    def value(self) -> SparkColumn:
        """Converts the selected value back to the column's type."""
        found = F.col(quoted_name(self.name))
        if self.type == "date":
            return F.date_from_unix_date(found)
        if self.type in ("timestamp", "timestamp_ntz"):
            return F.timestamp_micros(found).cast(self.type)
        return found.cast(spark_type(self.type))

    def _within(self, number: str, number_type: str) -> str:
        name = identifier(self.name)
        prefix = literal(f"column {self.name} holds ")
        return (
            f"CASE WHEN {name} >= '0001-01-01' AND {name} < '10000-01-01' THEN {number}"
            f" ELSE ({prefix} || {name}::text)::{number_type} END"
        )


def database_column(name: str, sql_type: str, *, enum: bool = False) -> DatabaseColumn:
    """The column; ``UnsupportedColumn`` if it cannot be read exactly."""
    size = _SIZE.search(sql_type)
    type_name = _SIZE.sub("", sql_type).strip()
    if enum or type_name in _TEXTS:
        found = "string"
    elif type_name in _TIMES:
        found = _TIMES[type_name]
    elif type_name == "numeric":
        found = _decimal(name, sql_type, size)
    elif sql_type == "date":
        found = "date"
    elif sql_type in _PLAIN:
        found = _PLAIN[sql_type]
    else:
        raise UnsupportedColumn(
            f"column {name} is {sql_type}, which is not supported: read a view that casts it"
            " or omits it"
        )
    return DatabaseColumn(name, sql_type, found)


def identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """SQL string literal, valid under any ``standard_conforming_strings``."""
    doubled = text.replace("\\", "\\\\").replace("'", "''")
    return f"E'{doubled}'" if "\\" in text else f"'{doubled}'"


def _decimal(name: str, sql_type: str, size: re.Match[str] | None) -> str:
    if size is None:
        raise UnsupportedColumn(
            f"column {name} is numeric without precision and scale: read a view that casts it to"
            " numeric(p,s), such as numeric(38,9)"
        )
    try:
        return normal_type(f"decimal({size[1]},{size[2] or 0})")
    except ValueError:
        raise UnsupportedColumn(
            f"column {name} is {sql_type}, but a decimal has at most 38 digits, with a"
            " scale from 0 to that number: read a view that casts it"
        ) from None

"""The sampled rows, in a DuckDB that spills to a temporary folder.

Columns are numbered, so that names from files never become part of a statement.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from lakeguard_sdk.types.schema import is_nested
from openlaketx.engine.duckdb_reader import reach_stores
from openlaketx.engine.locations import duckdb_path
from openlaketx.engine.machine import cores, memory_bytes
from openlaketx.measure.sql.condition_sql import sql_type

_SHARE_OF_MEMORY = 4


class SampleRows:
    """Rows with columns ``c0``, ``c1``, …; a column that is added later is NULL in earlier rows."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._width = 0
        self.count = 0

    def add_texts(self, columns: Sequence[Sequence[str | None]]) -> None:
        """Rows of text, column by column, all of the same length."""
        names = [f"c{index}" for index in range(len(columns))]
        arrays = [pa.array(column, pa.string()) for column in columns]
        self._widen(["VARCHAR"] * len(columns))
        self._connection.register("chunk", pa.table(arrays, names=names))
        self._insert("SELECT * FROM chunk")
        self._connection.unregister("chunk")

    def add_parquet(self, location: str, columns: Sequence[str], limit: int) -> None:
        """The first rows of a file; ``columns`` are the table's, in this order."""
        quoted = ", ".join(_quoted(name) for name in columns)
        source = f"SELECT {quoted} FROM read_parquet(?) LIMIT {limit:d}"  # noqa: S608 - quoted
        path = [[duckdb_path(location)]]
        described = self._connection.execute(f"DESCRIBE {source}", path).fetchall()
        self._widen([str(row[1]) for row in described])
        self._insert(source, path)

    def show(self, relation: str, values: Mapping[str, Any], columns: Sequence[str]) -> None:
        """All rows of a relation, re-read by each query; ``values`` are its parameters."""
        for name, value in values.items():
            self._connection.execute(f"SET VARIABLE {name} = ?", [value])
        source = re.sub(r"\$([a-z_0-9]+)", r"getvariable('\1')", relation)
        numbered = ", ".join(f"{_quoted(name)} AS c{at}" for at, name in enumerate(columns))
        self._connection.execute(f"CREATE VIEW seen AS SELECT {numbered} FROM {source}")  # noqa: S608
        self.count = int(self.ask("SELECT count(*) FROM seen")[0][0])

    def ask(self, query: str, parameters: dict[str, Any] | None = None) -> list[tuple[Any, ...]]:
        return self._connection.execute(query, parameters or {}).fetchall()

    def write(self, values: Mapping[str, str], file: str) -> None:
        """Writes all rows to one Parquet file: each name with its SQL expression."""
        selected = ", ".join(f"{value} AS {_quoted(name)}" for name, value in values.items())
        place = file.replace("'", "''")
        copied = f"COPY (SELECT {selected} FROM seen) TO '{place}' (FORMAT parquet)"  # noqa: S608
        self._connection.execute(copied)

    def _widen(self, types: Sequence[str]) -> None:
        new = [f"c{at} {types[at]}" for at in range(self._width, len(types))]
        if new and not self._width:
            self._connection.execute(f"CREATE TABLE seen ({', '.join(new)})")
        else:
            for column in new:
                self._connection.execute(f"ALTER TABLE seen ADD COLUMN {column}")
        self._width = max(self._width, len(types))

    def _insert(self, source: str, parameters: Any = None) -> None:
        added = self._connection.execute(f"INSERT INTO seen {source}", parameters).fetchone()
        self.count += int(added[0]) if added else 0


@contextmanager
def sample_rows() -> Iterator[SampleRows]:
    with tempfile.TemporaryDirectory(prefix="look-") as folder:
        connection = duckdb.connect(
            str(Path(folder, "seen.duckdb")),
            config={
                "threads": str(cores()),
                "memory_limit": f"{memory_bytes() // _SHARE_OF_MEMORY}B",
                "temp_directory": folder,
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
            },
        )
        try:
            connection.execute("SET TimeZone = 'UTC'")
            reach_stores(connection)
            yield SampleRows(connection)
        finally:
            connection.close()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# Limits of the inspection: enough rows for a proposal in little time.


@dataclass(frozen=True)
class Limits:
    files: int = 20
    rows: int = 200_000
    """Per file, from its start."""


LIMITS = Limits()


# Columns of the sampled rows in their proposed types.


@dataclass(frozen=True)
class SampleColumn:
    """Its index among the sampled rows, and its type there."""

    at: int
    name: str
    type: str
    nulls: int
    null_marks: tuple[str, ...] | None = None
    """The texts that represent NULL in text files; None for typed values."""

    @property
    def value(self) -> str:
        """SQL of its value as a run would load it."""
        raw = f"c{self.at:d}"
        if self.null_marks is None:
            return raw if is_nested(self.type) else f"CAST({raw} AS {_held(self.type)})"
        text = raw
        for mark in self.null_marks:
            text = f"nullif({text}, '{mark.replace(chr(39), chr(39) * 2)}')"
        if self.type == "string":
            return text
        return f"try_cast(nullif({text}, '') AS {_held(self.type)})"


def _held(data_type: str) -> str:
    """Floats as stored in files: measures convert them to doubles."""
    return "FLOAT" if data_type == "float" else sql_type(data_type)

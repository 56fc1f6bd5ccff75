"""DuckDB connection restricted to given files and a memory limit."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import duckdb
import pyarrow as pa
from duckdb.func import ARROW

from lakeguard_sdk.storage.storage import has_stores
from openlaketx.engine.locations import duckdb_path
from openlaketx.engine.machine import cores, memory_bytes
from openlaketx.engine.nfkc_text import nfkc_texts

_SHARE_OF_MEMORY = 4
NFKC = "lg_nfkc"
"""The function ``nfkc_text`` in SQL."""
ENGINE = f"duckdb {duckdb.__version__}"


class DuckdbReader:
    """Runs one query at a time over a list of Parquet files."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def row(self, query: str, parameters: Mapping[str, Any]) -> tuple[Any, ...]:
        """The only row of the result; the connection is free for the next query."""
        found = self._connection.execute(query, dict(parameters)).fetchall()
        return tuple(found[0]) if found else ()

    def rows(self, query: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """All rows of the result, in memory."""
        return self._connection.execute(query, dict(parameters)).fetchall()

    def stop(self) -> None:
        """Interrupt the current query, from any thread."""
        self._connection.interrupt()

    def batches(
        self, query: str, parameters: Mapping[str, Any], rows: int
    ) -> Iterator[pa.RecordBatch]:
        """The result in batches of about ``rows`` rows, never in memory as a whole."""
        yield from self._connection.sql(query, params=dict(parameters)).to_arrow_reader(rows)


@contextmanager
def duckdb_reader(beside: int = 1) -> Iterator[DuckdbReader]:
    """UTC, NULLs first, division by zero raises; spills to a temporary folder. ``beside``
    concurrent readers share the memory and threads of one."""
    with tempfile.TemporaryDirectory(prefix="measure-") as spill:
        connection = duckdb.connect(
            ":memory:",
            config={
                "threads": str(max(1, cores() // beside)),
                "memory_limit": f"{memory_bytes() // _SHARE_OF_MEMORY // beside}B",
                "temp_directory": spill,
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "preserve_insertion_order": "false",
            },
        )
        try:
            connection.execute("SET TimeZone = 'UTC'")
            # the progress bar would corrupt standard output
            connection.execute("SET enable_progress_bar_print = false")
            # it folds isnan() to FALSE from statistics, which ignore NaN
            connection.execute("SET disabled_optimizers = 'statistics_propagation'")
            connection.execute("SET ieee_floating_point_ops = false")
            connection.execute("SET default_null_order = 'nulls_first_on_asc_last_on_desc'")
            reach_stores(connection)
            connection.create_function(NFKC, nfkc_texts, ["VARCHAR"], "VARCHAR", type=ARROW)
            yield DuckdbReader(connection)
        finally:
            connection.close()


def reach_stores(connection: duckdb.DuckDBPyConnection) -> None:
    """Let DuckDB read object stores, if this process does."""
    if has_stores():
        from openlaketx.engine.duckdb_files import StoreFiles  # its library is an extra

        connection.register_filesystem(StoreFiles())


def file_list(locations: Sequence[str]) -> list[str]:
    return [duckdb_path(location) for location in locations]


def duckdb_text(text: str) -> str:
    """As a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"

"""A DuckDB that reads given files and nothing else, within stated memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import duckdb
import pyarrow as pa

from openlaketx.engine.locations import duckdb_path
from openlaketx.engine.machine import cores, memory_bytes

_SHARE_OF_MEMORY = 4
ENGINE = f"duckdb {duckdb.__version__}"


class DuckdbReader:
    """Asks one question at a time of a list of Parquet files."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def row(self, query: str, parameters: Mapping[str, Any]) -> tuple[Any, ...]:
        """The one row of the answer; the connection is free for the next question."""
        found = self._connection.execute(query, dict(parameters)).fetchall()
        return tuple(found[0]) if found else ()

    def rows(self, query: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """All rows of the answer, in memory."""
        return self._connection.execute(query, dict(parameters)).fetchall()

    def stop(self) -> None:
        """From any thread: the question that is being answered ends with an error."""
        self._connection.interrupt()

    def batches(
        self, query: str, parameters: Mapping[str, Any], rows: int
    ) -> Iterator[pa.RecordBatch]:
        """All rows of the answer, about so many at a time: it is never in memory as a whole."""
        yield from self._connection.sql(query, params=dict(parameters)).to_arrow_reader(rows)


@contextmanager
def duckdb_reader(beside: int = 1) -> Iterator[DuckdbReader]:
    """UTC, NULLs first, division by zero raises; spills under a folder that goes away. Of so many
    ``beside`` each other, all together have the memory and the threads of one."""
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
            # it would stand on standard output, among the answers
            connection.execute("SET enable_progress_bar_print = false")
            # it takes isnan() for FALSE where statistics, which know nothing of NaN, tell a range
            connection.execute("SET disabled_optimizers = 'statistics_propagation'")
            connection.execute("SET ieee_floating_point_ops = false")
            connection.execute("SET default_null_order = 'nulls_first_on_asc_last_on_desc'")
            yield DuckdbReader(connection)
        finally:
            connection.close()


def file_list(locations: Sequence[str]) -> list[str]:
    return [duckdb_path(location) for location in locations]

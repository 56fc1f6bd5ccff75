"""Runs tasks and reads rows in tests: rows without Spark, frames with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakeguard_sdk.client import Client
from lakeguard_sdk.model.read_models import ResolvedDataset
from lakeguard_sdk.model.run import RunResult
from openlaketx.notebook.connection import Connection

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ROWS_AT_ONCE = 10_000


class TaskRunner:
    """Spark starts once per process, with the first call that needs it."""

    def __init__(self, client: Client, *, spark_options: dict[str, str]) -> None:
        self._connection = Connection(client)
        self._spark_options = spark_options

    def spark(self) -> SparkSession:
        from openlaketx.engine.spark.session import spark_session

        return spark_session(self._spark_options)

    def publish(self, name: str, frame: DataFrame) -> RunResult:
        return self._connection.publish(name, frame).run

    def rows(self, found: ResolvedDataset) -> list[dict[str, Any]]:
        """All rows of the version, sorted by their columns from left to right."""
        from openlaketx.deliver.published_rows import (
            check_rows,
            row_count,
            rows_relation,
            shown_files,
        )
        from openlaketx.engine.duckdb_reader import duckdb_reader
        from openlaketx.measure.sql.condition_sql import quoted

        columns = ", ".join(quoted(column.name) for column in found.table_schema.columns)
        with duckdb_reader() as reader:
            files = shown_files(found, reader)
            origin, parameters = rows_relation(found, files)
            query = f"SELECT {columns} FROM {origin} ORDER BY ALL"  # noqa: S608 - names are quoted
            batches = reader.batches(query, parameters, _ROWS_AT_ONCE)
            rows = [row for batch in batches for row in batch.to_pylist()]
        check_rows(found, len(rows), row_count(files))
        return rows

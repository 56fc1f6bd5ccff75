"""Measuring with DuckDB."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import duckdb

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.expressions.measures import DuplicateRows, measure_key
from lakeguard_sdk.types.schema import FLOATS, TableSchema
from openlaketx.engine.duckdb_reader import ENGINE, DuckdbReader
from openlaketx.engine.shown_values import masked_message
from openlaketx.measure.runner import MeasuringEngine, Relation
from openlaketx.measure.sql.aggregate_sql import Forms
from openlaketx.measure.sql.duckdb_dialect import DUCKDB
from openlaketx.measure.subject import Subject

# Aggregates in DuckDB SQL.


class DuckdbForms(Forms):
    dialect = DUCKDB

    def days(self, value: str) -> str:
        return f"date_diff('day', DATE '1970-01-01', {value})"

    def micros(self, value: str) -> str:
        return f"epoch_us({value})"

    def whole_sum(self, value: str) -> str:
        return f"sum({value})"

    def careful_sum(self, value: str) -> str:
        return f"fsum({value})"

    def quantile(self, value: str, q: str) -> str:
        return f"quantile_cont({value}, {q})"

    def count_where(self, condition: str) -> str:
        """Not by FILTER, for which DuckDB slices all columns of the query once per aggregate."""
        return f"coalesce(count_if({condition}), 0)"

    def is_infinite(self, value: str) -> str:
        return f"isinf({value})"


DUCKDB_FORMS = DuckdbForms()


_REASON = 300
_AT_ONCE = 10_000
_TOUCHED = "read_parquet($touched, hive_partitioning = false)"


class DuckdbEngine(MeasuringEngine):
    """Reads the files by name, scanning each only as often as a query needs it."""

    name = ENGINE
    forms = DUCKDB_FORMS
    failures = (duckdb.Error,)

    def __init__(self, subject: Subject, reader: DuckdbReader) -> None:
        self._subject = subject
        self._reader = reader

    def rows(self, query: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        return self._reader.rows(query, parameters)

    def batches(
        self, query: str, parameters: Mapping[str, Any]
    ) -> Iterator[Sequence[tuple[Any, ...]]]:
        for found in self._reader.batches(query, parameters, _AT_ONCE):
            yield list(zip(*(column.to_pylist() for column in found.columns), strict=True))

    def origin(self, scope: Scope) -> Relation:
        return Relation(*self._subject.origin(scope))

    def touched(self, measure: DuplicateRows) -> Relation | None:
        if not _only_new_keys_matter(measure, self._subject):
            return None
        return Relation(_TOUCHED, {"touched": self._subject.files(Scope.BATCH)})

    def reference(self, dataset: DatasetName) -> tuple[Relation, TableSchema]:
        pinned = self._subject.reference(dataset)
        return Relation(*pinned.origin()), pinned.schema

    def stop(self) -> None:
        self._reader.stop()

    def reason(self, error: Exception) -> str:
        """The reason is stored in evidence, so values quoted by DuckDB are redacted like any
        foreign message."""
        kind = type(error).__name__
        line = next(iter(str(error).splitlines()), kind)
        return (masked_message(line, kind) if isinstance(error, duckdb.Error) else line)[:_REASON]


def _only_new_keys_matter(measure: DuplicateRows, subject: Subject) -> bool:
    """Whether keys that the run does not add are known to be unique and need no check.

    Not for floats: row-group statistics, by which files are skipped, ignore NaN.
    """
    if measure.scope is not Scope.TABLE or measure_key(measure) not in subject.proven:
        return False
    exact = all(column.type not in FLOATS for column in measure.columns)
    return exact and 0 < subject.batch.rows < subject.table_rows

"""The rows that are measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.model.run import InputPin, RunPlan
from lakeguard_sdk.storage.storage import join
from lakeguard_sdk.types.schema import TableSchema
from openlaketx.engine.delta_table import Values
from openlaketx.engine.duckdb_reader import file_list
from openlaketx.extract.pinned_inputs import files_to_read, values_left_to_log
from openlaketx.measure.duckdb_columns import rows_with_log_columns
from openlaketx.measure.sql.condition_sql import quoted, sql_type
from openlaketx.stage import Candidate

_FILES = "read_parquet($files, hive_partitioning = false, union_by_name = true)"
"""By name, because older files lack newer columns."""
_REFERENCE = _FILES.replace("$files", "$reference")


@dataclass(frozen=True)
class ReferencedRows:
    """The rows of a referenced dataset: its files, relative to its root, and its columns."""

    location: str
    paths: tuple[str, ...]
    schema: TableSchema
    lacking: Values = field(default_factory=dict)
    """Files that may lack columns, with their values from the Delta log."""

    @property
    def files(self) -> list[str]:
        return [join(self.location, path) for path in self.paths]

    def origin(self) -> tuple[str, dict[str, Any]]:
        """The relation, with parameter names that are unique within a query."""
        if not self.paths:
            return empty_rows(self.schema), {}
        if any(path in self.lacking for path in self.paths):
            return rows_with_log_columns(
                self.location, self.schema, self.paths, self.lacking, prefix="reference_"
            )
        return _REFERENCE, {"reference": file_list(self.files)}


@dataclass(frozen=True)
class Subject:
    """The rows that a run adds, and the table as it would be with them."""

    batch: Candidate
    schema: TableSchema
    table: tuple[str, ...]
    """Every file of the resulting table, relative to its root."""
    table_rows: int
    proven: tuple[str, ...] = ()
    """Duplicate measures that were 0 for the table before this run."""
    lacking: Values = field(default_factory=dict)
    """Files of the table that may lack columns, with their values from the Delta log."""
    references: Mapping[DatasetName, ReferencedRows] = field(default_factory=dict)
    table_bytes: int = 0
    """Of all these files; an unknown size counts as 0."""

    @property
    def needs_log(self) -> bool:
        """Whether columns of the table or of a referenced table exist only in the Delta log."""
        return bool(self.lacking) or any(held.lacking for held in self.references.values())

    def origin(self, scope: Scope) -> tuple[str, dict[str, Any]]:
        """The relation to query; without files, an empty one with the same names and types."""
        paths = self._paths(scope)
        if any(path in self.lacking for path in paths):
            return rows_with_log_columns(self.batch.location, self.schema, paths, self.lacking)
        files = self.files(scope)
        return (_FILES, {"files": files}) if files else (empty_rows(self.schema), {})

    def files(self, scope: Scope) -> list[str]:
        return file_list(self.locations(scope))

    def locations(self, scope: Scope) -> list[str]:
        return [join(self.batch.location, path) for path in self._paths(scope)]

    def _paths(self, scope: Scope) -> tuple[str, ...]:
        staged = tuple(file.path for file in self.batch.files)
        return self.table if scope is Scope.TABLE else staged

    def reference(self, dataset: DatasetName) -> ReferencedRows:
        found = self.references.get(dataset)
        if found is None:
            raise ValueError(f"no version of {dataset} is pinned")
        return found


def empty_rows(schema: TableSchema) -> str:
    columns = [f"CAST(NULL AS {sql_type(c.type)}) AS {quoted(c.name)}" for c in schema.columns]
    return f"(SELECT {', '.join(columns)} WHERE FALSE)"


# Rows of referenced datasets.


def referenced_rows(
    plan: RunPlan, shown: Sequence[str], lacking: Values
) -> dict[DatasetName, ReferencedRows]:
    """Each referenced dataset at its pinned version; the dataset itself with the files ``shown``.

    Columns that a file lacks are read from the Delta log, as every other reader does.
    """
    own = ReferencedRows(plan.location, tuple(shown), plan.table_schema, lacking)
    return {plan.dataset: own} | pinned_rows(plan.references, plan.dataset)


def pinned_rows(
    pins: Sequence[InputPin], dataset: DatasetName
) -> dict[DatasetName, ReferencedRows]:
    """The datasets that keys of ``dataset`` refer to, each at its pinned version."""
    return {pin.input.dataset: _pinned_rows(pin, str(dataset)) for pin in pins}


def _pinned_rows(pin: InputPin, dataset: str) -> ReferencedRows:
    location = pin.snapshot.location
    root = f"{location.rstrip('/')}/"
    paths = tuple(file.removeprefix(root) for file in files_to_read(pin, dataset))
    return ReferencedRows(location, paths, pin.table_schema, values_left_to_log(pin, paths))

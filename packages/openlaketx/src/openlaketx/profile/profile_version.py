"""Profiles a published version."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import duckdb

from lakeguard_sdk.errors import VersionUnreadable
from lakeguard_sdk.model.evidence import InputVersion
from lakeguard_sdk.model.profile import ColumnProfile, Profile
from lakeguard_sdk.model.read_models import ResolvedDataset
from lakeguard_sdk.model.run import InputPin, TableSnapshot
from lakeguard_sdk.ports import Reader
from lakeguard_sdk.types.schema import Column
from openlaketx.engine.duckdb_reader import ENGINE, duckdb_reader
from openlaketx.engine.file_check import checking_files
from openlaketx.engine.machine import cores
from openlaketx.measure.runner import Relation
from openlaketx.measure.sql.condition_sql import quoted
from openlaketx.measure.subject import pinned_rows
from openlaketx.profile.column_kinds import Kind, kind_of
from openlaketx.profile.column_profile import column_profile


def profile_version(
    dataset: ResolvedDataset, reader: Reader | None = None, *, masked: tuple[str, ...] = ()
) -> Profile:
    """Every column of the version, whose files are compared with their records first. Columns in
    ``masked``, nested columns and bytes are only counted; their values are not read.
    ``VersionUnreadable`` if a file is lost or damaged."""
    try:
        return _profiled(dataset, reader, masked)
    except (duckdb.Error, OSError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise VersionUnreadable(
            dataset=dataset.dataset, version=dataset.version, reason=reason
        ) from None


def _profiled(dataset: ResolvedDataset, reader: Reader | None, masked: tuple[str, ...]) -> Profile:
    hidden = {name.casefold() for name in masked}
    with checking_files(reader):
        origin = _version_rows(dataset)
    columns = dataset.table_schema.columns
    kinds = {
        column.name: None if column.name.casefold() in hidden else kind_of(column.name, column.type)
        for column in columns
    }
    counted = [column for column in columns if kinds[column.name] is None]
    total, present = _counts(origin, counted)
    workers = max(1, min(cores(), len(columns) - len(counted)))

    def taken(column: Column) -> ColumnProfile:
        kind = kinds[column.name]
        if kind is not None:
            return _alone(origin, total, column, kind, workers)
        return ColumnProfile(
            column=column.name,
            type=column.type,
            nulls=total - present[column.name],
            masked=column.name.casefold() in hidden,
        )

    with ThreadPoolExecutor(workers, "profile") as pool:
        profiles = tuple(pool.map(taken, columns))
    return Profile(
        dataset=dataset.dataset,
        version=dataset.version,
        rows=total,
        columns=profiles,
        engine=ENGINE,
        taken_at=datetime.now(UTC),
    )


def _counts(origin: Relation, columns: Sequence[Column]) -> tuple[int, dict[str, int]]:
    """The row count, and the count of non-NULL values per column."""
    counts = ", ".join(["count(*)", *(f"count({quoted(column.name)})" for column in columns)])
    with duckdb_reader() as reader:
        total, *present = reader.row(
            f"SELECT {counts} FROM {origin.text}",  # noqa: S608 - names are quoted, values bound
            origin.parameters,
        )
    names = (column.name for column in columns)
    return int(total), dict(zip(names, map(int, present), strict=True))


def _alone(origin: Relation, total: int, column: Column, kind: Kind, workers: int) -> ColumnProfile:
    """With its own DuckDB, so that columns are read in parallel."""
    with duckdb_reader(workers) as reader:
        return column_profile(reader, origin, total, column, kind)


# The rows of a published version as a DuckDB relation.


def _version_rows(dataset: ResolvedDataset) -> Relation:
    """Exactly the files of the version, without later commits."""
    version = InputVersion(
        dataset=dataset.dataset, dataset_id=dataset.dataset_id, version=dataset.version
    )
    pin = InputPin(
        input=version,
        snapshot=TableSnapshot(
            location=dataset.location, table_id=dataset.table_id, commit=dataset.commit
        ),
        table_schema=dataset.table_schema,
    )
    return Relation(*pinned_rows((pin,), dataset.dataset)[dataset.dataset].origin())

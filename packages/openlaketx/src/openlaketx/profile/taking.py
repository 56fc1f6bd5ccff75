"""Taking the profile of a published version."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

from lakeguard_sdk.profile import ColumnProfile, Profile
from lakeguard_sdk.reading import ResolvedDataset
from lakeguard_sdk.schema import Column
from openlaketx.engine.machine import cores
from openlaketx.measure.condition_sql import quoted
from openlaketx.measure.duckdb_reader import ENGINE, duckdb_reader
from openlaketx.measure.measuring import Relation
from openlaketx.profile.column import column_profile
from openlaketx.profile.kinds import Kind, kind_of
from openlaketx.profile.rows import version_rows


def profile_version(dataset: ResolvedDataset, *, masked: tuple[str, ...] = ()) -> Profile:
    """Every column of the version. Of those in ``masked`` no value leaves the files: they, and what
    is nested or bytes, are only counted."""
    hidden = {name.casefold() for name in masked}
    origin = version_rows(dataset)
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
    """All rows, and of each column those that have a value."""
    asked = ", ".join(["count(*)", *(f"count({quoted(column.name)})" for column in columns)])
    with duckdb_reader() as reader:
        total, *present = reader.row(
            f"SELECT {asked} FROM {origin.text}",  # noqa: S608 - names are quoted, values bound
            origin.parameters,
        )
    names = (column.name for column in columns)
    return int(total), dict(zip(names, map(int, present), strict=True))


def _alone(origin: Relation, total: int, column: Column, kind: Kind, workers: int) -> ColumnProfile:
    """With a DuckDB of its own, so that columns are read side by side."""
    with duckdb_reader(workers) as reader:
        return column_profile(reader, origin, total, column, kind)

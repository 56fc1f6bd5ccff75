"""Profiles of versions, stored by metric."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from sqlalchemy import Row, select

from lakeguard.ledger.versions import StoredVersion
from lakeguard.state import outbox
from lakeguard.state.schema import data_profiling_results
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import canonical_json
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.model.profile import ColumnProfile, Profile

_METRICS = {
    "BASIC_STATS": ("type", "nulls", "nans", "mean", "deviation", "lengths", "masked"),
    "MIN_MAX": ("least", "greatest"),
    "DISTINCT_COUNT": ("distinct",),
    "QUANTILES": ("quantiles",),
    "TOP_VALUES": ("top",),
    "PATTERNS": ("patterns",),
}
"""Metrics and the part of a column's profile that each holds. All but the first are omitted when
empty."""
_FIRST = "BASIC_STATS"
_SKETCH = "SKETCH_"


def record_profile(
    tx: Transaction, stored: StoredVersion, profile: Profile, *, reads_source: bool
) -> None:
    """Store all metrics of all columns under a new id."""
    about = {
        "run_id": stored.run_id,
        "source_object_id": stored.dataset_id if reads_source else None,
        "dataset_id": stored.dataset_id,
        "sample_size": profile.rows,
        "profiled_at": profile.taken_at,
        "org_id": tx.org_id,
        "profile_id": new_id("prf"),
        "version": stored.version,
    }
    rows = [
        {**about, "column_name": column.column, **metric}
        for ordinal, column in enumerate(profile.columns)
        for metric in _metrics(column, {"engine": profile.engine, "ordinal": ordinal})
    ]
    outbox.record(tx, data_profiling_results, rows, profile.taken_at)


def profiles_of(
    tx: Transaction, name: DatasetName, dataset_id: str, version: int | None = None
) -> tuple[Profile, ...]:
    """Profiles of a version, or all; newest first."""
    table = data_profiling_results.c
    query = select(data_profiling_results).where(table.dataset_id == dataset_id)
    if version is not None:
        query = query.where(table.version == version)
    rows = tx.execute(query.order_by(table.profile_id)).all()
    found = [
        _profile(name, list(group)) for _, group in groupby(rows, key=lambda row: row.profile_id)
    ]
    return tuple(sorted(found, key=lambda each: each.taken_at, reverse=True))


def last_profiled(tx: Transaction, dataset_id: str) -> datetime | None:
    """When the dataset was last profiled; times of a clock that was ahead do not count."""
    table = data_profiling_results.c
    return tx.scalar(
        select(table.profiled_at)
        .where(table.dataset_id == dataset_id, table.profiled_at <= tx.now())
        .order_by(table.profiled_at.desc())
        .limit(1)
    )


def profiled_versions(tx: Transaction, dataset_id: str) -> frozenset[int]:
    table = data_profiling_results.c
    found = select(table.version).where(table.dataset_id == dataset_id).distinct()
    return frozenset(tx.scalars(found))


def _metrics(column: ColumnProfile, params: dict[str, Any]) -> Iterator[dict[str, Any]]:
    fields_found, nothing = column.to_data(), _nothing(column).to_data()
    for name, fields in _METRICS.items():
        if name == _FIRST or any(fields_found[field] != nothing[field] for field in fields):
            value = canonical_json({field: fields_found[field] for field in fields})
            yield _row(name, value, params if name == _FIRST else {})
    for sketch in column.sketches:
        name = f"{_SKETCH}{sketch.kind.upper()}"
        yield _row(name, sketch.data, {"kind": sketch.kind, "type_tag": sketch.type_tag})


def _nothing(column: ColumnProfile) -> ColumnProfile:
    return ColumnProfile(column=column.column, type=column.type, nulls=column.nulls)


def _row(name: str, value: str, params: dict[str, Any]) -> dict[str, Any]:
    return {
        "metric_name": name,
        "metric_value": value,
        "metric_params": canonical_json(params),
    }


def _profile(name: DatasetName, rows: Sequence[Row[Any]]) -> Profile:
    by_column: dict[str, list[Row[Any]]] = {}
    for row in rows:
        by_column.setdefault(row.column_name, []).append(row)
    params = {
        row.column_name: json.loads(row.metric_params) for row in rows if row.metric_name == _FIRST
    }
    ordered = sorted(params, key=lambda column: params[column]["ordinal"])
    return Profile(
        dataset=name,
        version=rows[0].version,
        rows=rows[0].sample_size,
        columns=tuple(_column(column, by_column[column]) for column in ordered),
        engine=params[ordered[0]]["engine"],
        taken_at=rows[0].profiled_at,
    )


def _column(name: str, rows: Sequence[Row[Any]]) -> ColumnProfile:
    """A column's profile from its metrics."""
    metrics: dict[str, Any] = {"column": name}
    sketches = []
    for row in sorted(rows, key=lambda each: each.metric_name):
        if row.metric_name.startswith(_SKETCH):
            sketches.append({**json.loads(row.metric_params), "data": row.metric_value})
        else:
            metrics |= json.loads(row.metric_value)
    return ColumnProfile.model_validate({**metrics, "sketches": sketches})

"""Finds files that may contain a key of the batch by statistics, without reading the table."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import reduce
from operator import or_
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakeguard_sdk.model.evidence import StagedFile
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.storage.storage import join, readable_file
from lakeguard_sdk.types.schema import (
    FLOATS,
    INTEGERS,
    TableSchema,
    decimal_size,
)
from openlaketx.engine.parquet_types import table_schema
from openlaketx.engine.spark.types import quoted_name
from openlaketx.loads.table_state import Existing, comparable
from openlaketx.stage import Candidate
from openlaketx.stage.file_stats import delta_stats

_TIMES = ("timestamp", "timestamp_ntz")
_RANGED = ("string", "date", *_TIMES, *INTEGERS, *FLOATS)
_LISTED = ("string", "date", *_TIMES, *INTEGERS)
_MOST_LISTED = 2_000_000
_COMPARED = ("string", *INTEGERS)
_MOST_STRETCHES = 16


def files_with_keys(
    existing: Existing, batch: Candidate, schema: TableSchema, keys: Sequence[str]
) -> set[str]:
    """Files whose range contains a value of the batch in every key column; no other file has a
    matching key."""
    found = set(existing.files)
    if not batch.files:
        return set()
    for name in keys:
        data_type = str(schema.type_of(name))
        if not existing.has_comparable_ranges(name, data_type):
            continue
        between = staged_range(batch, name, data_type)
        if between is not None:
            found &= existing.overlapping(name, *between)
        if len(found) > 1 and data_type in _LISTED:
            found = _around(existing, found, name, staged_values(batch, name))
    return found


def near_keys(
    rows: DataFrame, existing: Existing, files: set[str], batch: Candidate, plan: RunPlan
) -> DataFrame:
    """Rows near the batch's keys, as a filter that lets readers skip row groups.

    No row with a key of the batch is dropped.
    """
    name = plan.load.keys[0]
    data_type = str(plan.declared.type_of(name))
    if data_type not in _COMPARED or not existing.has_comparable_ranges(name, data_type):
        return rows
    values = staged_values(batch, name)
    if values is None:
        return rows
    between = [_within(values, existing.ranges[path].get(name)) for path in files]
    stretches = _merged([found for found in between if found is not None])
    if not stretches or len(stretches) > _MOST_STRETCHES:
        return rows
    column = F.col(quoted_name(name))
    return rows.filter(reduce(or_, (column.between(low, high) for low, high in stretches)))


def _merged(stretches: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """The same values in the fewest ranges, sorted."""
    merged: list[tuple[Any, Any]] = []
    for low, high in sorted(stretches):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return merged


def _can_list(batch: Candidate, column: str) -> bool:
    """Not for partition columns, whose range is one value, nor for names with dots."""
    few = batch.rows <= _MOST_LISTED and "." not in column
    return few and column not in batch.files[0].partition


def staged_values(batch: Candidate, column: str) -> list[Any] | None:
    """Sorted distinct non-NULL values of a column in staged files; None if there are too many, or
    some are unknown."""
    if not batch.files or not _can_list(batch, column):
        return None
    places = [readable_file(join(batch.location, file.path)) for file in batch.files]
    columns = [pq.ParquetFile(place).read([column])[column] for place in places]
    distinct = (value for found in columns for value in pc.unique(found).to_pylist())
    try:
        return sorted({comparable(value) for value in distinct} - {None})
    except UnicodeDecodeError:
        return None


def _around(existing: Existing, files: set[str], column: str, values: list[Any] | None) -> set[str]:
    """Files that overlap a value: the batch may lie at both ends of a table and nowhere between."""
    if values is None:
        return files
    return {path for path in files if _within(values, existing.ranges[path].get(column))}


def _within(values: list[Any], known: tuple[Any, Any] | None) -> tuple[Any, Any] | None:
    """Minimum and maximum of the values within a range; of all values if the range is unknown."""
    first, last = 0, len(values)
    if known is not None:
        first, last = bisect_left(values, known[0]), bisect_right(values, known[1])
    return (values[first], values[last - 1]) if first < last else None


def staged_range(batch: Candidate, column: str, data_type: str) -> tuple[Any, Any] | None:
    """Range of a column over the staged files; None if unknown."""
    if data_type not in _RANGED and decimal_size(data_type) is None:
        return None
    lows, highs = [], []
    for file, footer in zip(batch.files, batch.footers, strict=True):
        stats = _stats_of(file, footer, column)
        if stats["nullCount"].get(column) == file.rows:
            continue
        text = file.partition.get(column)
        low, high = stats["minValues"].get(column, text), stats["maxValues"].get(column, text)
        if low is None or high is None:
            return None
        lows.append(_as(low, data_type))
        highs.append(_as(high, data_type))
    return (min(lows), max(highs)) if lows else None


def _stats_of(file: StagedFile, footer: pq.FileMetaData, column: str) -> dict[str, Any]:
    """The file's statistics, or its footer's if the statistics omit the column."""
    stats: dict[str, Any] = json.loads(file.stats, parse_float=Decimal)
    if column in stats["minValues"] or column in file.partition:
        return stats
    return dict(json.loads(delta_stats(footer, table_schema(footer)), parse_float=Decimal))


def has_values(staged: Candidate, column: str) -> bool:
    """Whether the column may have a non-NULL value."""
    counts = [json.loads(file.stats)["nullCount"].get(column) for file in staged.files]
    return any(nulls != file.rows for nulls, file in zip(counts, staged.files, strict=True))


def comparable_bounds(bounds: tuple[Any, Any], data_type: str) -> tuple[Any, Any]:
    """Bounds of a window, converted for comparison with file statistics."""
    if data_type in _TIMES:
        return _moment(bounds[0]), _moment(bounds[1])
    if data_type == "date":
        return bounds[0].isoformat(), bounds[1].isoformat()
    return bounds


def _moment(bound: datetime) -> str:
    in_utc = bound.astimezone(UTC) if bound.tzinfo else bound
    return in_utc.replace(tzinfo=None).isoformat(timespec="microseconds")


def _as(value: Any, data_type: str) -> Any:
    """Converted for comparison with file statistics: integers, and times as text without a zone."""
    if data_type in INTEGERS:
        return int(value)
    return value.removesuffix("Z") if data_type in _TIMES else value

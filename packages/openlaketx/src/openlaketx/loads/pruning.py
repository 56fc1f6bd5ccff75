"""Which files of the table can hold a key of the batch: the table itself is not read."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from lakeguard_sdk.schema import FLOATS, INTEGERS, TableSchema, decimal_size
from lakeguard_sdk.storage import join, local_path
from openlaketx.loads.existing import Existing, comparable
from openlaketx.stage import Candidate

_TIMES = ("timestamp", "timestamp_ntz")
_RANGED = ("string", "date", *_TIMES, *INTEGERS, *FLOATS)
_LISTED = ("string", "date", *_TIMES, *INTEGERS)
_MOST_LISTED = 2_000_000


def files_with_keys(
    existing: Existing, batch: Candidate, schema: TableSchema, keys: Sequence[str]
) -> set[str]:
    """Files in whose range the batch has a value, in every key column: no other has such a key."""
    found = set(existing.files)
    if not batch.files:
        return set()
    for name in keys:
        data_type = str(schema.type_of(name))
        between = staged_range(batch, name, data_type)
        if between is not None:
            found &= existing.overlapping(name, *between)
        if len(found) > 1 and data_type in _LISTED and _can_list(batch, name):
            found = _around(existing, found, name, staged_values(batch, name))
    return found


def _can_list(batch: Candidate, column: str) -> bool:
    """Not by a column that partitions, whose range is its value, and not past a reader's dots."""
    few = batch.rows <= _MOST_LISTED and "." not in column
    return few and column not in batch.files[0].partition


def staged_values(batch: Candidate, column: str) -> list[Any]:
    """Every value that staged files hold in a column, once and in order, without NULL."""
    places = [local_path(join(batch.location, file.path)) for file in batch.files]
    columns = [pq.ParquetFile(place).read([column])[column] for place in places]
    distinct = (value for found in columns for value in pc.unique(found).to_pylist())
    return sorted({comparable(value) for value in distinct} - {None})


def _around(existing: Existing, files: set[str], column: str, values: list[Any]) -> set[str]:
    """The batch may lie at both ends of a table and miss all that is between."""
    found = set()
    for path in files:
        low, high = existing.ranges[path].get(column) or (None, None)
        if low is None:
            found.add(path)
            continue
        first = bisect_left(values, low)
        if first < len(values) and values[first] <= high:
            found.add(path)
    return found


def staged_range(batch: Candidate, column: str, data_type: str) -> tuple[Any, Any] | None:
    """Between which values staged files hold a column; None where they do not tell."""
    if data_type not in _RANGED and decimal_size(data_type) is None:
        return None
    lows, highs = [], []
    for file in batch.files:
        told = json.loads(file.stats, parse_float=Decimal)
        if told["nullCount"].get(column) == file.rows:
            continue
        text = file.partition.get(column)
        low, high = told["minValues"].get(column, text), told["maxValues"].get(column, text)
        if low is None or high is None:
            return None
        lows.append(_as(low, data_type))
        highs.append(_as(high, data_type))
    return (min(lows), max(highs)) if lows else None


def has_values(staged: Candidate, column: str) -> bool:
    """Whether a row may have a value in the column."""
    counts = [json.loads(file.stats)["nullCount"].get(column) for file in staged.files]
    return any(nulls != file.rows for nulls, file in zip(counts, staged.files, strict=True))


def comparable_bounds(bounds: tuple[Any, Any], data_type: str) -> tuple[Any, Any]:
    """Bounds of a window as the ranges of live files are."""
    if data_type in _TIMES:
        return _moment(bounds[0]), _moment(bounds[1])
    if data_type == "date":
        return bounds[0].isoformat(), bounds[1].isoformat()
    return bounds


def _moment(bound: datetime) -> str:
    in_utc = bound.astimezone(UTC) if bound.tzinfo else bound
    return in_utc.replace(tzinfo=None).isoformat(timespec="microseconds")


def _as(value: Any, data_type: str) -> Any:
    """As the ranges of live files are: integers, and times as text without a zone."""
    if data_type in INTEGERS:
        return int(value)
    return value.removesuffix("Z") if data_type in _TIMES else value

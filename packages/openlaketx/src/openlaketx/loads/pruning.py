"""Which files of the table can hold a key of the batch, by ranges alone: nothing is read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from lakeguard_sdk.schema import FLOATS, INTEGERS, TableSchema, decimal_size
from openlaketx.loads.existing import Existing
from openlaketx.stage import Candidate

_TIMES = ("timestamp", "timestamp_ntz")
_RANGED = ("string", "date", *_TIMES, *INTEGERS, *FLOATS)


def files_with_keys(
    existing: Existing, batch: Candidate, schema: TableSchema, keys: Sequence[str]
) -> set[str]:
    """Files whose range overlaps the batch's in every key column; the others hold no such key."""
    found = set(existing.files)
    if not batch.files:
        return set()
    for name in keys:
        between = staged_range(batch, name, str(schema.type_of(name)))
        if between is not None:
            found &= existing.overlapping(name, *between)
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

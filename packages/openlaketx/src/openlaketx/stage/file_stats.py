"""Delta file statistics, derived from the file's footer only.

A wrong minimum or maximum makes readers skip rows silently, so uncertain values are omitted:
booleans, binary, NaN, times outside the years 1 to 9999.
"""

from __future__ import annotations

import json
import math
from collections.abc import Container
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow.parquet as pq

from lakeguard_sdk.types.schema import (
    FLOATS,
    INTEGERS,
    TableSchema,
    decimal_size,
)
from openlaketx.stage.footer_ranges import column_range, leaf_indexes

PREFIX = 32
_LAST = "\U0010ffff"
_RAW = ("date", "timestamp", "timestamp_ntz", "string", *INTEGERS)
_WITHOUT = ("boolean", "binary")


def delta_stats(
    footer: pq.FileMetaData,
    declared: TableSchema,
    leave_out: Container[str] = (),
    *,
    redacted_statistics: Container[str] = (),
) -> str:
    """``numRecords``, ``minValues``, ``maxValues`` and ``nullCount`` as JSON text.

    Omits partition columns, whose values are in the log, and nested columns, for which a footer has
    no row-level NULL count. Values of columns in ``redacted_statistics`` are redacted.
    """
    low: dict[str, str] = {}
    high: dict[str, str] = {}
    nulls: dict[str, str] = {}
    places = leaf_indexes(declared)
    for column in declared.columns:
        if column.name in leave_out or column.name not in places:
            continue
        found = column_range([footer], places[column.name], raw=column.type in _RAW)
        if found.nulls is not None:
            nulls[column.name] = str(found.nulls)
        omitted = column.type in _WITHOUT or column.name in redacted_statistics
        if omitted or found.lowest is None:
            continue
        if column.type == "string":
            lowest, highest = _string_bounds(found.lowest, found.highest)
        else:
            lowest, highest = _text(found.lowest, column.type), _text(found.highest, column.type)
        if lowest is not None and highest is not None:
            low[column.name], high[column.name] = lowest, highest
    parts = {
        "numRecords": str(footer.num_rows),
        "minValues": _object(low),
        "maxValues": _object(high),
        "nullCount": _object(nulls),
    }
    return _object(parts)


def upper_prefix(text: str) -> str:
    """A short text that is not less than ``text`` in code point order."""
    if len(text) <= PREFIX:
        return text
    for end in range(PREFIX, len(text)):
        if text[end] != _LAST:
            return text[:end] + _LAST
    return text


def _string_bounds(lowest: bytes, highest: bytes) -> tuple[str | None, str | None]:
    """None if the bytes are not valid UTF-8: Spark can write such strings."""
    try:
        return _quoted(lowest.decode()[:PREFIX]), _quoted(upper_prefix(highest.decode()))
    except UnicodeDecodeError:
        return None, None


def _text(value: Any, data_type: str) -> str | None:
    """One bound as JSON text; None if it cannot be represented."""
    if data_type in INTEGERS:
        return str(int(value))
    if data_type in FLOATS:
        return json.dumps(float(value)) if math.isfinite(value) else None
    if decimal_size(data_type) and isinstance(value, Decimal):
        return format(value, "f")
    if data_type == "date":
        return _instant(lambda: (date(1970, 1, 1) + timedelta(days=value)).isoformat())
    if data_type in ("timestamp", "timestamp_ntz"):
        zone = "Z" if data_type == "timestamp" else ""
        return _instant(lambda: _moment(value).isoformat(timespec="microseconds") + zone)
    return None


def _moment(micros: int) -> datetime:
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return (epoch + timedelta(microseconds=micros)).replace(tzinfo=None)


def _instant(render: Any) -> str | None:
    try:
        return json.dumps(render())
    except OverflowError:
        return None


def _object(members: dict[str, str]) -> str:
    return "{" + ",".join(f"{_quoted(key)}:{value}" for key, value in members.items()) + "}"


def _quoted(text: str) -> str:
    """Without escapes: delta-rs misreads escaped characters beyond the BMP."""
    return json.dumps(text, ensure_ascii=False)

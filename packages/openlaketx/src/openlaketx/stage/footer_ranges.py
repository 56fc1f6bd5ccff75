"""NULL counts and value ranges of columns, from Parquet footers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow.parquet as pq

from lakeguard_sdk.types.schema import TableSchema, is_nested, leaf_types


@dataclass(frozen=True)
class ColumnRange:
    """Over whole files. ``nulls`` is None if a row group has no count.

    ``lowest`` and ``highest`` are the footer's physical values (days and microseconds for dates and
    times), and None if there are no values. ``bounded`` is False if a row group has values without
    statistics.
    """

    values: int
    nulls: int | None
    bounded: bool
    lowest: Any
    highest: Any


def leaf_indexes(schema: TableSchema) -> dict[str, int]:
    """Leaf index of each plain column; nested columns are omitted, because footers prove nothing
    about them.

    Footers count leaves, of which a nested column has several.
    """
    places, leaves = {}, 0
    for column in schema.columns:
        if not is_nested(column.type):
            places[column.name] = leaves
        leaves += len(leaf_types(column.type))
    return places


def column_range(footers: Iterable[pq.FileMetaData], index: int, *, raw: bool) -> ColumnRange:
    """The range of one leaf (see ``leaf_indexes``) over all row groups of all files."""
    values, nulls, bounded = 0, 0, True
    known = True
    lows, highs = [], []
    for footer in footers:
        for group in range(footer.num_row_groups):
            chunk = footer.row_group(group).column(index)
            stats = chunk.statistics
            values += chunk.num_values
            if stats is None or not stats.has_null_count:
                known = bounded = False
                continue
            nulls += stats.null_count
            if stats.null_count == chunk.num_values:
                continue
            if not stats.has_min_max:
                bounded = False
                continue
            lows.append(stats.min_raw if raw else stats.min)
            highs.append(stats.max_raw if raw else stats.max)
    return ColumnRange(
        values=values,
        nulls=nulls if known else None,
        bounded=bounded,
        lowest=min(lows, default=None) if bounded else None,
        highest=max(highs, default=None) if bounded else None,
    )

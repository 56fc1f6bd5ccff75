"""NULL counts and value ranges of columns, from Parquet footers, and whether the rows agree."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Context
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lakeguard_sdk.errors import StagingFailed
from lakeguard_sdk.storage.storage import join, readable_file
from lakeguard_sdk.types.schema import TableSchema, is_nested, leaf_types
from openlaketx.engine.machine import cores
from openlaketx.stage.file_footer import UnusualLayout
from openlaketx.stage.file_layout import Indexes, PageIndex, checked_layout

if TYPE_CHECKING:
    from openlaketx.stage.candidate import Candidate


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


_BOOLEAN, _LITTLE, _FLOAT_BYTES = 0, (0, 1, 2), 4
"""Parquet's physical types that are stored with the low byte first."""
_ALL_DIGITS = Context(prec=80)


# Footers of files that another process wrote. Measures, Delta statistics and pruning rely
# on them: a writer that lies could hide rows, so they are computed again.


def check_footers(candidate: Candidate, dataset: str) -> None:
    """Raises ``StagingFailed`` for the first file whose footer does not match its rows, or in which
    readers may find different rows."""
    places = [join(candidate.location, file.path) for file in candidate.files]
    with ThreadPoolExecutor(max_workers=cores(), thread_name_prefix="footers") as pool:
        for file, problem in zip(candidate.files, pool.map(_problem, places), strict=True):
            if problem is not None:
                raise StagingFailed(dataset=dataset, reason=f"{file.path}: {problem}")


def _problem(place: str) -> str | None:
    try:
        indexes = checked_layout(place)
        with pq.ParquetFile(readable_file(place), page_checksum_verification=True) as file:
            for group in range(file.metadata.num_row_groups):
                for problem in _differences(file, group, indexes):
                    return problem
    except UnusualLayout as error:
        return str(error)
    except (pa.ArrowException, OSError, struct.error) as error:
        return next(iter(str(error).splitlines()), type(error).__name__)
    return None


def _differences(file: pq.ParquetFile, group: int, indexes: Indexes) -> Iterator[str]:
    footer = file.metadata.row_group(group)
    rows = file.read_row_group(group, use_threads=False)
    if rows.num_rows != footer.num_rows:
        yield f"it has {rows.num_rows} rows instead of {footer.num_rows} in its footer"
    leaf = 0
    for field, column in zip(rows.schema, rows.columns, strict=True):
        for name, values in leaf_values(field.name, column):
            chunk, index = footer.column(leaf), indexes[group][leaf]
            if chunk.statistics is not None:
                yield from _of_column(name, values, chunk)
            if index is not None:
                yield from _of_pages(name, values, index)
            if pa.types.is_decimal(values.type) and _is_too_long(values):
                yield f"{name} has a number with more digits than its type"
            leaf += 1


def leaf_values(name: str, values: pa.ChunkedArray) -> Iterator[tuple[str, pa.ChunkedArray]]:
    """The values of each leaf, without those that the file counts for empty or NULL arrays and
    maps."""
    kind = values.type
    if pa.types.is_struct(kind):
        parts = [chunk.flatten() for chunk in values.chunks]
        for at, field in enumerate(kind):
            below = pa.chunked_array([part[at] for part in parts], field.type)
            yield from leaf_values(f"{name}.{field.name}", below)
    elif pa.types.is_map(kind):
        entries = pa.list_(pa.struct([("key", kind.key_type), ("value", kind.item_type)]))
        yield from leaf_values(name, values.cast(entries))
    elif pa.types.is_nested(kind):
        yield from leaf_values(f"{name}.element", pc.list_flatten(values))
    else:
        yield name, values


def _of_column(name: str, values: pa.ChunkedArray, chunk: Any) -> Iterator[str]:
    statistics = chunk.statistics
    nulls = chunk.num_values - (len(values) - values.null_count)
    if statistics.has_null_count and statistics.null_count != nulls:
        yield f"{name} has {nulls} NULLs instead of {statistics.null_count}"
    if not statistics.has_min_max or values.null_count == len(values):
        return
    found = pc.min_max(values)
    low, high = found["min"], found["max"]
    if pa.types.is_floating(values.type):  # a bound that is NaN says nothing
        pairs = ((statistics.min, low.as_py()), (statistics.max, high.as_py()))
        same = all(math.isnan(bound) or bound == seen for bound, seen in pairs)
        same = same and (math.isnan(statistics.max) or not has_nan(values))
    elif _is_raw(values.type):
        same = (_raw(low), _raw(high)) == (statistics.min_raw, statistics.max_raw)
    else:
        same = (low.as_py(), high.as_py()) == (statistics.min, statistics.max)
    if not same:
        yield f"{name} has other values than its footer says"


def _is_too_long(values: pa.ChunkedArray) -> bool:
    """Arrow does not check this, and rules rely on the range of a type."""
    found = pc.min_max(values)
    most = 10**values.type.precision
    return any(each.is_valid and abs(_number(each)) >= most for each in found.values())


def _of_pages(name: str, values: pa.ChunkedArray, index: PageIndex) -> Iterator[str]:
    """Readers skip pages by their index, so its bounds and order must match the rows."""
    lows, highs = [], []
    for at, (start, end) in enumerate(pairwise((*index.firsts, len(values)))):
        page = values.slice(start, end - start)
        empty = page.null_count == len(page)
        agrees = index.empty[at] == empty
        agrees = agrees and (not index.nulls or index.nulls[at] == page.null_count)
        if agrees and not empty:
            found = pc.min_max(page)
            lows.append(_stored(index.lowest[at], index.type, page.type))
            highs.append(_stored(index.highest[at], index.type, page.type))
            agrees = lows[-1] <= _number(found["min"]) and _number(found["max"]) <= highs[-1]
            agrees = agrees and not has_nan(page)
        if not agrees:
            yield f"{name} has a page with other values than its index says"
            return
    for order, down in ((1, False), (2, True)):
        if index.order == order and any(
            sorted(each, reverse=down) != each for each in (lows, highs)
        ):
            yield f"{name} has pages in another order than its index says"


def has_nan(values: pa.ChunkedArray) -> bool:
    """NaN is the highest value, but Parquet bounds may ignore it."""
    return pa.types.is_floating(values.type) and bool(pc.any(pc.is_nan(values)).as_py())


def _stored(raw: bytes, physical: int, kind: pa.DataType) -> Any:
    """A bound of an index as a comparable value. Bounds of strings may be truncated."""
    if pa.types.is_decimal(kind) and physical not in _LITTLE:
        return int.from_bytes(raw, "big", signed=True)
    if pa.types.is_floating(kind):
        return struct.unpack("<f" if len(raw) == _FLOAT_BYTES else "<d", raw)[0]
    if physical in _LITTLE:
        return int.from_bytes(raw, "little", signed=physical != _BOOLEAN)
    return raw


def _number(found: pa.Scalar) -> Any:
    """A value in the representation of ``_stored``."""
    if pa.types.is_decimal(found.type):
        value = found.as_py()
        return int(value.scaleb(found.type.scale, _ALL_DIGITS))
    if pa.types.is_temporal(found.type):
        return found.value
    is_text = pa.types.is_string(found.type) or pa.types.is_binary(found.type)
    return found.as_buffer().to_pybytes() if is_text else found.as_py()


def _is_raw(kind: pa.DataType) -> bool:
    """Times, which Python cannot always represent, strings, which may be invalid UTF-8, and narrow
    integers, which are truncated when they are read."""
    is_narrow = pa.types.is_int8(kind) or pa.types.is_int16(kind)
    return bool(pa.types.is_temporal(kind) or pa.types.is_string(kind) or is_narrow)


def _raw(value: pa.Scalar) -> Any:
    if pa.types.is_string(value.type):
        return value.as_buffer().to_pybytes()
    return value.value if pa.types.is_temporal(value.type) else value.as_py()

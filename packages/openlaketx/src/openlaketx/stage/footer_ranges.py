"""NULL counts and value ranges of columns, from Parquet footers, and whether the rows agree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lakeguard_sdk.errors import StagingFailed
from lakeguard_sdk.storage.storage import join, readable_file
from lakeguard_sdk.types.schema import TableSchema, is_nested, leaf_types
from openlaketx.engine.machine import cores
from openlaketx.stage.file_layout import layout_problem

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


# Footers of files that another process wrote. Measures, Delta statistics and pruning rely
# on them: a writer that lies could hide rows, so they are computed again.


def check_footers(candidate: Candidate, dataset: str) -> None:
    """``StagingFailed`` for the first file whose footer differs from its rows, or in which another
    reader may find other rows."""
    places = [join(candidate.location, file.path) for file in candidate.files]
    with ThreadPoolExecutor(max_workers=cores(), thread_name_prefix="footers") as pool:
        for file, problem in zip(candidate.files, pool.map(_problem, places), strict=True):
            if problem is not None:
                raise StagingFailed(dataset=dataset, reason=f"{file.path}: {problem}")


def _problem(place: str) -> str | None:
    if problem := layout_problem(place):
        return problem
    try:
        with pq.ParquetFile(readable_file(place)) as file:
            for group in range(file.metadata.num_row_groups):
                for problem in _differences(file, group):
                    return problem
    except (pa.ArrowException, OSError) as error:
        return next(iter(str(error).splitlines()), type(error).__name__)
    return None


def _differences(file: pq.ParquetFile, group: int) -> Iterator[str]:
    footer = file.metadata.row_group(group)
    rows = file.read_row_group(group, use_threads=False)
    if rows.num_rows != footer.num_rows:
        yield f"it has {rows.num_rows} rows instead of {footer.num_rows} in its footer"
    leaf = 0
    for field, values in zip(rows.schema, rows.columns, strict=True):
        leaves = _leaves(field.type)
        statistics = footer.column(leaf).statistics
        leaf += leaves
        if leaves == 1 and not pa.types.is_nested(field.type) and statistics is not None:
            yield from _of_column(field.name, values, statistics)


def _of_column(name: str, values: pa.ChunkedArray, statistics: Any) -> Iterator[str]:
    if statistics.has_null_count and statistics.null_count != values.null_count:
        yield f"{name} has {values.null_count} NULLs instead of {statistics.null_count}"
    if not statistics.has_min_max or values.null_count == len(values):
        return
    found = pc.min_max(values)
    low, high = found["min"], found["max"]
    if pa.types.is_floating(values.type):  # -0.0 and 0.0 are equal, but not in a footer
        same = statistics.min <= low.as_py() and high.as_py() <= statistics.max
    elif _is_raw(values.type):
        same = (_raw(low), _raw(high)) == (statistics.min_raw, statistics.max_raw)
    else:
        same = (low.as_py(), high.as_py()) == (statistics.min, statistics.max)
    if not same:
        yield f"{name} has other values than its footer says"


def _is_raw(kind: pa.DataType) -> bool:
    """Times, which Python cannot always represent, and texts, which may not be valid."""
    return bool(pa.types.is_temporal(kind) or pa.types.is_string(kind))


def _raw(value: pa.Scalar) -> Any:
    return value.value if pa.types.is_temporal(value.type) else value.as_buffer().to_pybytes()


def _leaves(kind: pa.DataType) -> int:
    if not pa.types.is_nested(kind):
        return 1
    return sum(_leaves(kind.field(at).type) for at in range(kind.num_fields))

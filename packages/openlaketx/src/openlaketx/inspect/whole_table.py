"""A Delta table looked at whole: what is said of its columns holds for every row it shows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from lakeguard_sdk.command_errors import NotAdoptable
from lakeguard_sdk.schema import TableSchema
from lakeguard_sdk.sketch import SketchColumn, SourceSketch
from lakeguard_sdk.words import SourceFormat
from openlaketx.engine.delta_table import open_table, partition_texts
from openlaketx.engine.shown_values import foreign_words
from openlaketx.inspect.keys import KeyColumn, find_keys
from openlaketx.inspect.seen_rows import SeenRows
from openlaketx.inspect.table_files import DeltaFiles, delta_files
from openlaketx.measure.log_columns import rows_with_log_columns

_FEW = 12
"""Different texts that a column may have to be told as a list."""
_OFTEN = 20
"""How often each of them must come on average: in few rows everything is few."""
_SHORT = 40
_WAY_OUT = "bring the file back as it was, or delete its rows from the table, then adopt again"


def look_at_whole(folder: str, rows: SeenRows) -> SourceSketch:
    """Columns as the table has them, partition columns too; nothing is copied.

    ``NotAdoptable`` names the file that cannot be read.
    """
    table = delta_files(folder)
    try:
        return _sketch(folder, table, rows)
    except (duckdb.OutOfMemoryException, duckdb.InterruptException):
        raise
    except duckdb.Error as error:
        line = next(iter(str(error).splitlines()), "")
        said = foreign_words(line, type(error).__name__)
        reason = _unreadable(table.files) or f"its files cannot be read: {said}"
        raise NotAdoptable(location=folder, reason=reason, way_out=_WAY_OUT) from None


def _unreadable(files: Sequence[str]) -> str | None:
    """The first file of which not every row can be read, if there is one."""
    for file in files:
        try:
            with pq.ParquetFile(file) as content:
                for _ in content.iter_batches():
                    pass
        except (pa.ArrowException, OSError) as error:
            line = next(iter(str(error).splitlines()), type(error).__name__)
            return f"file {file} cannot be read: {line}"
    return None


def _sketch(folder: str, table: DeltaFiles, rows: SeenRows) -> SourceSketch:
    paths = [file.removeprefix(f"{folder.rstrip('/')}/") for file in table.files]
    texts = partition_texts(open_table(folder))
    lacking = {path: texts[path] for path in paths}
    relation, values = rows_with_log_columns(folder, table.schema, paths, lacking)
    rows.show(relation, values, table.schema.names)
    nulls = _nulls(rows, len(table.schema.columns))
    filled = [
        KeyColumn(at, column.name, column.type)
        for at, column in enumerate(table.schema.columns)
        if not nulls[at]
    ]
    return SourceSketch(
        format=SourceFormat.DELTA,
        columns=_columns(table.schema, nulls, rows),
        keys=find_keys(rows, filled),
        files=len(paths),
        files_found=len(paths),
        rows=rows.count,
        bytes=sum(Path(file).stat().st_size for file in table.files),
        whole=True,
    )


def _columns(schema: TableSchema, nulls: list[int], rows: SeenRows) -> tuple[SketchColumn, ...]:
    return tuple(
        SketchColumn(
            name=column.name,
            type=column.type,
            found_as=column.name,
            nulls=nulls[at],
            values=_values(at, rows) if column.type == "string" else (),
        )
        for at, column in enumerate(schema.columns)
    )


def _nulls(rows: SeenRows, width: int) -> list[int]:
    asked = ", ".join(f"count(*) - count(c{index:d})" for index in range(width))
    return [int(count) for count in rows.ask(f"SELECT {asked} FROM seen")[0]]  # noqa: S608


def _values(at: int, rows: SeenRows) -> tuple[str, ...]:
    """All texts of a column, if they are few, short and each comes often; else none."""
    found = rows.ask(
        f"SELECT DISTINCT c{at:d} FROM seen WHERE c{at:d} IS NOT NULL LIMIT {_FEW + 1:d}"  # noqa: S608
    )
    texts = sorted(str(row[0]) for row in found)
    few = 1 < len(texts) <= _FEW and len(texts) * _OFTEN <= rows.count
    plain = all(text.isprintable() and 0 < len(text) <= _SHORT for text in texts)
    return tuple(texts) if few and plain else ()

"""A Delta table looked at whole: what is said of its columns holds for every row it shows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from lakeguard_sdk.errors import NotAdoptable
from lakeguard_sdk.sketch import SketchColumn, SourceSketch
from lakeguard_sdk.words import SourceFormat
from openlaketx.engine.delta_table import open_table, partition_texts
from openlaketx.engine.shown_values import foreign_words
from openlaketx.inspect.asking import Ask, asked_of_table
from openlaketx.inspect.keys import KeyColumn, find_keys
from openlaketx.inspect.seen_columns import SeenColumn
from openlaketx.inspect.seen_rows import SeenRows
from openlaketx.inspect.table_files import DeltaFiles, delta_files
from openlaketx.measure.log_columns import rows_with_log_columns

_WAY_OUT = "bring the file back as it was, or delete its rows from the table, then adopt again"


def look_at_whole(folder: str, rows: SeenRows, ask: Ask | None = None) -> SourceSketch:
    """Columns as the table has them, partition columns too; nothing is copied.

    ``NotAdoptable`` names the file that cannot be read.
    """
    table = delta_files(folder)
    try:
        return _sketch(folder, table, rows, ask)
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


def _sketch(folder: str, table: DeltaFiles, rows: SeenRows, ask: Ask | None) -> SourceSketch:
    paths = [file.removeprefix(f"{folder.rstrip('/')}/") for file in table.files]
    texts = partition_texts(open_table(folder))
    lacking = {path: texts[path] for path in paths}
    relation, values = rows_with_log_columns(folder, table.schema, paths, lacking)
    rows.show(relation, values, table.schema.names)
    nulls = _nulls(rows, len(table.schema.columns))
    seen = [
        SeenColumn(at, column.name, column.type, nulls[at])
        for at, column in enumerate(table.schema.columns)
    ]
    filled = [KeyColumn(one.at, one.name, one.type) for one in seen if not one.nulls]
    sketch = SourceSketch(
        format=SourceFormat.DELTA,
        columns=tuple(
            SketchColumn(name=one.name, type=one.type, found_as=one.name, nulls=one.nulls)
            for one in seen
        ),
        keys=find_keys(rows, filled),
        files=len(paths),
        files_found=len(paths),
        rows=rows.count,
        bytes=sum(Path(file).stat().st_size for file in table.files),
        whole=True,
    )
    if ask is None or not rows.count:
        return sketch
    return asked_of_table(sketch, seen, ask, location=folder, paths=paths, lacking=lacking)


def _nulls(rows: SeenRows, width: int) -> list[int]:
    asked = ", ".join(f"count(*) - count(c{index:d})" for index in range(width))
    return [int(count) for count in rows.ask(f"SELECT {asked} FROM seen")[0]]  # noqa: S608

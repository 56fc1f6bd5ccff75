"""Writing the rows of a version as files: exactly those of its commit, each file with its hash."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from lakeguard_sdk.reading import ResolvedDataset
from lakeguard_sdk.storage import storage_for
from lakeguard_sdk.words import TargetFormat
from openlaketx.deliver.file_set import DeliveredFile, sync
from openlaketx.deliver.rows_shown import check_rows, rows_relation, shown_files, told_rows
from openlaketx.deliver.spelling import COPY_OPTIONS, spelled
from openlaketx.engine.delta_table import LiveFile
from openlaketx.measure.duckdb_reader import DuckdbReader, duckdb_reader

ROWS_PER_FILE = 5_000_000
"""About: a file of the table is never split."""


def write_files(
    shown: ResolvedDataset, form: TargetFormat, root: Path, folder: str
) -> tuple[DeliveredFile, ...]:
    """All rows that the version shows, on disk below ``root``; in no promised order."""
    (root / folder).mkdir(parents=True, exist_ok=True)
    with duckdb_reader() as reader:
        live = shown_files(shown, reader)
        written = tuple(
            _write(reader, shown, form, root, f"{folder}/part-{number:05d}.{form}", part)
            for number, part in enumerate(_parts(live))
        )
    check_rows(shown, sum(file.rows for file in written), told_rows(live))
    sync(root / folder)
    return written


def _parts(files: Sequence[LiveFile]) -> Iterator[list[LiveFile]]:
    """At least one, so that a version of no rows is delivered too."""
    part: list[LiveFile] = []
    rows = 0
    for file in files:
        if part and rows + (file.rows or 0) > ROWS_PER_FILE:
            yield part
            part, rows = [], 0
        part.append(file)
        rows += file.rows or 0
    yield part


def _write(
    reader: DuckdbReader,
    shown: ResolvedDataset,
    form: TargetFormat,
    root: Path,
    path: str,
    part: Sequence[LiveFile],
) -> DeliveredFile:
    place = root / path
    origin, parameters = rows_relation(shown, part)
    columns = ", ".join(spelled(column, form) for column in shown.table_schema.columns)
    to = str(place).replace("'", "''")
    rows = reader.row(
        f"COPY (SELECT {columns} FROM {origin}) TO '{to}' ({COPY_OPTIONS[form]})",  # noqa: S608
        parameters,
    )
    sync(place)
    return DeliveredFile(
        path=path,
        rows=int(rows[0]),
        size=place.stat().st_size,
        sha256=storage_for(str(root)).sha256(str(place)),
    )

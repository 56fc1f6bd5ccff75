"""Writing the rows of a version as files: exactly those of its commit, each file with its hash."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from lakeguard_sdk.errors import DeliveryFailed
from lakeguard_sdk.reading import ResolvedDataset
from lakeguard_sdk.storage import join, storage_for
from lakeguard_sdk.words import TargetFormat
from openlaketx.deliver.file_set import DeliveredFile, sync
from openlaketx.deliver.spelling import COPY_OPTIONS, empty, spelled
from openlaketx.engine.delta_table import LiveFile, live_files, open_table
from openlaketx.measure.duckdb_reader import DuckdbReader, duckdb_reader, file_list

ROWS_PER_FILE = 5_000_000
"""About: a file of the table is never split."""


def write_files(
    shown: ResolvedDataset, form: TargetFormat, root: Path, folder: str
) -> tuple[DeliveredFile, ...]:
    """All rows that the version shows, on disk below ``root``; in no promised order."""
    live = live_files(open_table(shown.location, shown.commit))
    (root / folder).mkdir(parents=True, exist_ok=True)
    with duckdb_reader() as reader:
        written = tuple(
            _write(reader, shown, form, root, f"{folder}/part-{number:05d}.{form}", part)
            for number, part in enumerate(_parts([live[path] for path in sorted(live)]))
        )
    told = sum(file.rows or 0 for file in live.values())
    if sum(file.rows for file in written) != told:
        raise DeliveryFailed(
            dataset=shown.dataset,
            version=shown.version,
            reason=f"the files hold {sum(file.rows for file in written)} rows instead of {told}",
        )
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
    origin, parameters = _origin(shown, part)
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


def _origin(shown: ResolvedDataset, part: Sequence[LiveFile]) -> tuple[str, dict[str, list[str]]]:
    if not part:
        columns = ", ".join(empty(column) for column in shown.table_schema.columns)
        return f"(SELECT {columns} WHERE FALSE)", {}
    files = file_list([join(shown.location, file.path) for file in part])
    return "read_parquet($files, hive_partitioning = false)", {"files": files}

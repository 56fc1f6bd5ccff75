"""Files of rows by the ending of their names: all rows, or every mistake."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from lakeguard.registry.findings import Findings
from lakeguard.registry.rows.csv_rows import read_csv
from lakeguard.registry.rows.json_rows import read_json, read_json_lines
from lakeguard.registry.rows.row import Row, table_name
from lakeguard.registry.rows.source_text import MAX_BYTES, SourceText, decoded
from lakeguard.registry.rows.sql_inserts import read_inserts
from lakeguard.registry.rows.wording import shown
from lakeguard_sdk.errors import (
    DefinitionError,
    Place,
    TooLarge,
    UnknownReference,
    UnknownRowsFile,
    UnreadableRows,
)

MAX_ROWS = 250_000
MAX_VALUES = 2_000_000
"""Both of one file."""
MAX_MISTAKES = 100
"""Of one file: with more, it is not the file that was meant."""


class _Format(NamedTuple):
    name: str
    read: Callable[[SourceText, str], Iterator[Row | DefinitionError]]
    """Rows and mistakes in their order; raises a mistake after which nothing can be read."""


_FORMATS = {
    ".csv": _Format("CSV", read_csv),
    ".json": _Format("JSON", read_json),
    ".jsonl": _Format("JSON lines", read_json_lines),
    ".sql": _Format("SQL", read_inserts),
}
ENDINGS = tuple(_FORMATS)


def read_rows(files: Sequence[Path], findings: Findings) -> list[Row]:
    """The rows of all files in their order. A file with a mistake gives none: its mistakes go
    to the findings, each with its place. Nothing is executed and nothing is looked up."""
    return [row for path in files for row in _rows_of(path, findings)]


def _rows_of(path: Path, findings: Findings) -> list[Row]:
    rows: list[Row] = []
    values = mistakes = 0
    try:
        for found in _open(path):
            if isinstance(found, Row):
                rows.append(found)
                values += len(found.values)
                _refuse_many(rows, values)
            else:
                findings.add(found)
                mistakes += 1
            if mistakes == MAX_MISTAKES:
                break
    except DefinitionError as error:
        findings.add(error)
        return []
    return [] if mistakes else rows


def _refuse_many(rows: list[Row], values: int) -> None:
    if len(rows) > MAX_ROWS:
        raise TooLarge(rows[-1].place, thing="the file", limit=f"{MAX_ROWS:,} rows")
    if values > MAX_VALUES:
        raise TooLarge(rows[-1].place, thing="the file", limit=f"{MAX_VALUES:,} values")


def _open(path: Path) -> Iterator[Row | DefinitionError]:
    file = path.as_posix()
    form = _FORMATS.get(path.suffix.lower())
    if form is None:
        raise UnknownRowsFile(Place(file=file), name=shown(path.name))
    try:
        if not path.is_file():
            raise UnknownReference(Place(file=file), kind="file", name=shown(file), hint="")
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        problem = error.strerror or "the file cannot be opened"
        raise UnreadableRows(Place(file=file), format=form.name, problem=problem) from None
    return form.read(decoded(file, data, form.name), table_name(path.stem))

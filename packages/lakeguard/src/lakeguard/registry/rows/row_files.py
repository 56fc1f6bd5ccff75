"""Reads row files by extension: all rows, or all errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from lakeguard.registry.rows.json_cursor import JsonCursor
from lakeguard.registry.rows.row import Row, Value, table_name
from lakeguard.registry.rows.source_text import MAX_BYTES, SourceText, Span, decoded
from lakeguard.registry.rows.sql_inserts import read_inserts
from lakeguard.registry.rows.texts import counted, shown
from lakeguard.registry.text.problems import Findings
from lakeguard_sdk.errors import (
    BadColumns,
    DefinitionError,
    Place,
    RaggedRow,
    TooLarge,
    UnknownReference,
    UnknownRowsFile,
    UnreadableRows,
)

# CSV (RFC 4180) with a header line.

_QUOTED = re.compile(r'"[^"]*+(?:""[^"]*+)*"(?!")')
_PLAIN = re.compile(r'[^",\r\n]*+')
_LINE_END = re.compile(r"\r?\n|\Z")
_OTHER_SEPARATORS = re.compile(r"[;|\t]")


class _Cell(NamedTuple):
    span: Span
    value: str | None


def read_csv(source: SourceText, table: str) -> Iterator[Row | DefinitionError]:
    lines = _lines(source)
    header = next(lines, None)
    if header is None:
        raise BadColumns(source.place(Span(0, 1)), problem="the first line must be a header")
    names: list[str] = []
    for cell in header:
        written = (cell.value or "").strip()
        name = written.lower()
        if problem := _name_problem(written, names):
            yield BadColumns(source.place(cell.span), problem=problem)
        names.append(name)
    name_spans = tuple(cell.span for cell in header)
    for cells in lines:
        span = Span(cells[0].span.start, cells[-1].span.end)
        if len(cells) != len(names):
            yield _ragged(source, span, len(cells), len(names))
            continue
        values = {name: cell.value for name, cell in zip(names, cells, strict=True)}
        yield Row(table, values, source, span, tuple(cell.span for cell in cells), name_spans)


def _name_problem(written: str, before: Container[str]) -> str | None:
    if not written:
        return "empty column name"
    if written.lower() in before:
        return f"duplicate column {shown(written)!r}"
    if _OTHER_SEPARATORS.search(written):
        return f"column {shown(written)!r}: columns are separated by commas"
    return None


def _ragged(source: SourceText, span: Span, found: int, expected: int) -> RaggedRow:
    return RaggedRow(
        source.place(span), found=counted(found, "cell"), expected=counted(expected, "column")
    )


def _lines(source: SourceText) -> Iterator[list[_Cell]]:
    """The cells of each non-empty line."""
    text, at = source.text, 0
    cells: list[_Cell] = []
    while at < len(text) or cells:
        cell = _cell(source, at)
        cells.append(cell)
        source.refuse_wide(len(cells), cell.span)
        at = cell.span.end
        if text.startswith(",", at):
            at += 1
            continue
        end = _LINE_END.match(text, at)
        if end is None:
            quoted = text.startswith('"', cell.span.start)
            problem = "text after a closing quote" if quoted else "a quote inside an unquoted cell"
            raise source.unreadable(at, f"{problem}; double quotes within a quoted cell")
        at = end.end()
        if len(cells) > 1 or cells[0].span.end > cells[0].span.start:
            yield cells
        cells = []


def _cell(source: SourceText, at: int) -> _Cell:
    quoted = source.text.startswith('"', at)
    found = (_QUOTED if quoted else _PLAIN).match(source.text, at)
    if found is None:
        raise source.unreadable(at, "unterminated quote")
    span = Span(at, found.end())
    source.refuse_long(span)
    if quoted:
        return _Cell(span, found[0][1:-1].replace('""', '"').replace("\r\n", "\n"))
    return _Cell(span, found[0] or None)


# JSON: an object of tables, a list of rows, or JSON lines.


def read_json(source: SourceText, table: str) -> Iterator[Row | DefinitionError]:
    """``{"md_jobs": [{...}], ...}`` or ``[{...}, ...]``."""
    cursor = JsonCursor(source)
    match cursor.peek():
        case "[":
            yield from _list(cursor, table)
        case "{":
            yield from _tables(cursor)
        case _:
            raise cursor.unexpected("write a list of rows, or an object of tables")
    yield from cursor.mistakes
    cursor.finish()


def read_json_lines(source: SourceText, table: str) -> Iterator[Row | DefinitionError]:
    """One row per line; errors of all lines are reported."""
    start = 0
    while start < len(source.text):
        stop = source.text.find("\n", start)
        end = stop if stop >= 0 else len(source.text)
        cursor = JsonCursor(source, start, end)
        start = end + 1
        if not cursor.peek():
            continue
        try:
            row = _row(cursor, table)
            cursor.finish()
        except DefinitionError as mistake:
            yield mistake
            continue
        yield from _taken(cursor, row)


def _tables(cursor: JsonCursor) -> Iterator[Row | DefinitionError]:
    seen: set[str] = set()
    cursor.expect("{", "the start")
    while not cursor.take("}"):
        if seen:
            cursor.expect(",", "a table")
        key, span = cursor.key()
        if key in seen:
            cursor.report_duplicate(key, span)
        seen.add(key)
        if cursor.peek() != "[":
            raise cursor.unexpected("a table must be a list of rows: [{...}, {...}]")
        yield from _list(cursor, table_name(key))


def _list(cursor: JsonCursor, table: str) -> Iterator[Row | DefinitionError]:
    cursor.expect("[", "the table's name")
    first = True
    while not cursor.take("]"):
        if not first:
            cursor.expect(",", "a row")
        first = False
        row = _row(cursor, table)
        yield from _taken(cursor, row)


def _taken(cursor: JsonCursor, row: Row) -> Iterator[Row | DefinitionError]:
    """The errors since the previous row, else the row."""
    if cursor.mistakes:
        yield from cursor.mistakes
        cursor.mistakes = []
    else:
        yield row


def _row(cursor: JsonCursor, table: str) -> Row:
    if cursor.peek() != "{":
        raise cursor.unexpected('a row must be an object: {"column": value}')
    start = cursor.at
    cursor.at += 1
    values: dict[str, Value] = {}
    value_spans: list[Span] = []
    name_spans: list[Span] = []
    while not cursor.take("}"):
        if values:
            cursor.expect(",", "a value")
        key, name_span = cursor.key()
        name = key.strip().lower()
        value, span = cursor.value()
        if not name:
            raise cursor.source.unreadable(name_span.start, "empty column name", 2)
        if name in values:
            cursor.report_duplicate(key, name_span)
            continue
        values[name] = value
        value_spans.append(span)
        name_spans.append(name_span)
        cursor.source.refuse_wide(len(values), name_span)
    span = Span(start, cursor.at)
    return Row(table, values, cursor.source, span, tuple(value_spans), tuple(name_spans))


MAX_ROWS = 250_000
MAX_VALUES = 2_000_000
"""Limits of one file."""
MAX_MISTAKES = 100
"""Maximum errors reported per file."""


class _Format(NamedTuple):
    name: str
    read: Callable[[SourceText, str], Iterator[Row | DefinitionError]]
    """Yields rows and errors in order; raises an error that prevents further reading."""


_FORMATS = {
    ".csv": _Format("CSV", read_csv),
    ".json": _Format("JSON", read_json),
    ".jsonl": _Format("JSON lines", read_json_lines),
    ".sql": _Format("SQL", read_inserts),
}
ENDINGS = tuple(_FORMATS)


def read_rows(files: Sequence[Path], findings: Findings) -> list[Row]:
    """The rows of all files in order. A file with errors yields no rows; its errors go to the
    findings. Nothing is executed."""
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

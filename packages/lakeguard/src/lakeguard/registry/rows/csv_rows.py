"""Rows of a CSV file, by RFC 4180: commas, double quotes doubled within, names first.

A cell that is empty is NULL, one that is written ``""`` is an empty text. Empty lines hold no
row. Cells stay text; a line break within quotes is one line feed, however the file ends lines.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from typing import NamedTuple

from lakeguard.registry.rows.row import Row
from lakeguard.registry.rows.source_text import SourceText, Span
from lakeguard.registry.rows.wording import counted, shown
from lakeguard_sdk.errors import BadColumns, DefinitionError, RaggedRow

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
        raise BadColumns(source.place(Span(0, 1)), problem="the first line names the columns")
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
        return "a column without a name"
    if written.lower() in before:
        return f"column {shown(written)!r} is named twice"
    if _OTHER_SEPARATORS.search(written):
        return f"column {shown(written)!r}: columns are separated by commas"
    return None


def _ragged(source: SourceText, span: Span, found: int, expected: int) -> RaggedRow:
    return RaggedRow(
        source.place(span), found=counted(found, "cell"), expected=counted(expected, "column")
    )


def _lines(source: SourceText) -> Iterator[list[_Cell]]:
    """The cells of each line that is not empty."""
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
            problem = "text after a closing quote" if quoted else "a quote inside a plain cell"
            raise source.unreadable(at, f"{problem}; write a quote twice within a quoted cell")
        at = end.end()
        if len(cells) > 1 or cells[0].span.end > cells[0].span.start:
            yield cells
        cells = []


def _cell(source: SourceText, at: int) -> _Cell:
    quoted = source.text.startswith('"', at)
    found = (_QUOTED if quoted else _PLAIN).match(source.text, at)
    if found is None:
        raise source.unreadable(at, "a quote is not closed")
    span = Span(at, found.end())
    source.refuse_long(span)
    if quoted:
        return _Cell(span, found[0][1:-1].replace('""', '"').replace("\r\n", "\n"))
    return _Cell(span, found[0] or None)

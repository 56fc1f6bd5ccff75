"""Rows of JSON: tables by name with a list each, a list for the file's table, or lines.

A value that is itself a list or a mapping stays the text it is written in, as a database
keeps it in a text column.
"""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.registry.rows.json_cursor import JsonCursor
from lakeguard.registry.rows.row import Row, Value, table_name
from lakeguard.registry.rows.source_text import SourceText, Span
from lakeguard_sdk.errors import DefinitionError


def read_json(source: SourceText, table: str) -> Iterator[Row | DefinitionError]:
    """``{"md_jobs": [{...}], ...}`` or ``[{...}, ...]``."""
    cursor = JsonCursor(source)
    match cursor.peek():
        case "[":
            yield from _list(cursor, table)
        case "{":
            yield from _tables(cursor)
        case _:
            raise cursor.unexpected("write a list of rows, or tables with a list of rows each")
    yield from cursor.mistakes
    cursor.finish()


def read_json_lines(source: SourceText, table: str) -> Iterator[Row | DefinitionError]:
    """One row a line; a line that cannot be read does not hide the mistakes of the next."""
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
            cursor.twice(key, span)
        seen.add(key)
        if cursor.peek() != "[":
            raise cursor.unexpected("a table is a list of rows: [{...}, {...}]")
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
    """The mistakes since the row before, else the row."""
    if cursor.mistakes:
        yield from cursor.mistakes
        cursor.mistakes = []
    else:
        yield row


def _row(cursor: JsonCursor, table: str) -> Row:
    if cursor.peek() != "{":
        raise cursor.unexpected('a row is a mapping: {"column": value}')
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
            raise cursor.source.unreadable(name_span.start, "a column without a name", 2)
        if name in values:
            cursor.twice(key, name_span)
            continue
        values[name] = value
        value_spans.append(span)
        name_spans.append(name_span)
        cursor.source.refuse_wide(len(values), name_span)
    span = Span(start, cursor.at)
    return Row(table, values, cursor.source, span, tuple(value_spans), tuple(name_spans))

"""The text of a row file, with positions."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from lakeguard.registry.text.characters import forbidden_character
from lakeguard_sdk.errors import Place, TooLarge, UnreadableRows

MAX_BYTES = 64 * 1024 * 1024
MAX_VALUE = 1_000_000
"""Maximum characters of one value."""
MAX_COLUMNS = 1_000
_LINE_FEED = re.compile("\n")


class Span(NamedTuple):
    """A range of offsets."""

    start: int
    end: int


class SourceText:
    """A file's text; line starts are computed once."""

    def __init__(self, file: str, text: str, form: str) -> None:
        self.file = file
        self.text = text
        self.form = form
        """The format: CSV, JSON, JSON lines or SQL."""

    @cached_property
    def _line_starts(self) -> array[int]:
        return array("I", chain([0], (found.end() for found in _LINE_FEED.finditer(self.text))))

    def place(self, span: Span) -> Place:
        """The place of a span; its length covers the first line only."""
        line = bisect_right(self._line_starts, span.start)
        column = span.start - self._line_starts[line - 1] + 1
        stop = self.text.find("\n", span.start, span.end)
        shown = self.text[span.start : stop if stop >= 0 else span.end].rstrip()
        return Place(file=self.file, line=line, column=column, length=max(1, len(shown)))

    def unreadable(self, start: int, problem: str, length: int = 1) -> UnreadableRows:
        place = self.place(Span(start, start + length))
        return UnreadableRows(place, format=self.form, problem=problem)

    def refuse_long(self, span: Span) -> None:
        if span.end - span.start > MAX_VALUE:
            raise TooLarge(self.place(span), thing="the value", limit=f"{MAX_VALUE:,} characters")

    def refuse_wide(self, columns: int, span: Span) -> None:
        if columns > MAX_COLUMNS:
            raise TooLarge(self.place(span), thing="the row", limit=f"{MAX_COLUMNS:,} columns")


def decoded(file: str, data: bytes, form: str) -> SourceText:
    """The text of a file; an error if it is not plain UTF-8."""
    if len(data) > MAX_BYTES:
        limit = f"{MAX_BYTES // 1024 // 1024} MB"
        raise TooLarge(Place(file=file), thing="the file", limit=limit)
    try:
        source = SourceText(file, data.decode("utf-8-sig"), form)
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig", "replace")
        raise SourceText(file, before, form).unreadable(len(before), "not UTF-8 text") from None
    found = forbidden_character(source.text)
    if found:
        raise source.unreadable(found[0], f"{found[1]} is not allowed")
    return source

"""One row of a table of definitions, as a file says it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from typing import NamedTuple

from lakeguard.registry.rows.source_text import SourceText, Span
from lakeguard_sdk.errors import Place


class Now(Enum):
    """The time of the insert, where a file asks its database for it."""

    NOW = "now"


NOW = Now.NOW

Value = str | int | Decimal | bool | Now | None
"""Numbers are exact. What a text means, such as ``TRUE`` in a CSV, is for its reader to say."""


@dataclass(frozen=True, slots=True)
class Row:
    """Equal rows hold equal values, wherever they stand; values are never part of the repr."""

    table: str
    """In lower case, without its schema."""
    values: Mapping[str, Value] = field(repr=False)
    """By column in lower case, in the order of the file."""
    source: SourceText = field(repr=False, compare=False)
    span: Span = field(repr=False, compare=False)
    value_spans: Sequence[Span] = field(repr=False, compare=False)
    """One for each value, in their order; so are the spans of the names."""
    name_spans: Sequence[Span] = field(repr=False, compare=False)

    @property
    def place(self) -> Place:
        return self.source.place(self.span)

    def place_of(self, column: str) -> Place:
        """Where the value stands, quotes included; the row where it has no such column."""
        return self._place(column, self.value_spans)

    def place_of_name(self, column: str) -> Place:
        """Where the column is named: header, column list or key; else the row."""
        return self._place(column, self.name_spans)

    def _place(self, column: str, spans: Sequence[Span]) -> Place:
        if column not in self.values:
            return self.place
        return self.source.place(spans[list(self.values).index(column)])


class Cite(NamedTuple):
    """A value of a row, or the row itself; its place is looked up when somebody asks."""

    row: Row
    column: str = ""

    @property
    def place(self) -> Place:
        return self.row.place_of(self.column)


def table_name(text: str) -> str:
    """``dbo.Source_Objects`` as ``source_objects``."""
    return text.rpartition(".")[2].strip().lower()

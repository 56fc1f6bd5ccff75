"""One row of a definition table, as read from a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from typing import NamedTuple

from lakeguard.registry.rows.source_text import SourceText, Span
from lakeguard_sdk.errors import Place


class Now(Enum):
    """Placeholder for CURRENT_TIMESTAMP and similar."""

    NOW = "now"


NOW = Now.NOW

Value = str | int | Decimal | bool | Now | None
"""Numbers are exact. Readers interpret text, such as ``TRUE`` in a CSV."""


@dataclass(frozen=True, slots=True)
class Row:
    """Equality ignores positions; the repr never shows values."""

    table: str
    """In lower case, without schema."""
    values: Mapping[str, Value] = field(repr=False)
    """By column in lower case, in file order."""
    source: SourceText = field(repr=False, compare=False)
    span: Span = field(repr=False, compare=False)
    value_spans: Sequence[Span] = field(repr=False, compare=False)
    """One for each value, in order; likewise for the names."""
    name_spans: Sequence[Span] = field(repr=False, compare=False)

    @property
    def place(self) -> Place:
        return self.source.place(self.span)

    def place_of(self, column: str) -> Place:
        """The place of the value, including quotes; the row if it has no such column."""
        return self._place(column, self.value_spans)

    def place_of_name(self, column: str) -> Place:
        """The place of the column name: header, column list or key; else the row."""
        return self._place(column, self.name_spans)

    def _place(self, column: str, spans: Sequence[Span]) -> Place:
        if column not in self.values:
            return self.place
        return self.source.place(spans[list(self.values).index(column)])


class Cite(NamedTuple):
    """A reference to a value of a row, or to the row; its place is computed on demand."""

    row: Row
    column: str = ""

    @property
    def place(self) -> Place:
        return self.row.place_of(self.column)


def table_name(text: str) -> str:
    """``dbo.Source_Objects`` as ``source_objects``."""
    return text.rpartition(".")[2].strip().lower()

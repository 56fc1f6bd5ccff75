"""Columns of text that were looked at, and what can be said of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from openlaketx.inspect.narrowing import SPELT, TextFacts, text_facts
from openlaketx.inspect.seen_rows import SeenRows

NULL_MARKS = ("NA", "N/A", "NULL", "null", "None", "\\N", "-")
"""Texts that many programs write where there is no value."""


@dataclass(frozen=True)
class TextTable:
    """Texts as they stand in files; ``offered`` are the spellings that a column may be read by."""

    names: tuple[str, ...]
    whole: bool
    options: dict[str, str] = field(default_factory=dict)
    offered: dict[int, tuple[str, ...]] = field(default_factory=dict)

    def facts(self, rows: SeenRows, null_value: str = "") -> list[TextFacts]:
        return [self._of(rows, index, null_value) for index in range(len(self.names))]

    def _of(self, rows: SeenRows, index: int, null_value: str) -> TextFacts:
        return text_facts(rows, index, null_value, self.offered.get(index, tuple(SPELT)))

    def nulls(self, rows: SeenRows, facts: Sequence[TextFacts]) -> list[int]:
        """Rows without a value, column by column: an empty text is one in a column of texts."""
        return [
            rows.count - said.filled - (_empty(rows, index) if said.type == "string" else 0)
            for index, said in enumerate(facts)
        ]

    def null_mark(self, rows: SeenRows, facts: Sequence[TextFacts]) -> str:
        """The text that hides the type of most columns; empty where none does."""
        texts = [index for index, said in enumerate(facts) if said.type == "string" and said.filled]
        votes = dict.fromkeys(NULL_MARKS, 0)
        for index in texts:
            for mark in _present(rows, index):
                without = self._of(rows, index, mark)
                votes[mark] += without.type != "string"
        best = max(NULL_MARKS, key=lambda mark: votes[mark])
        return best if votes[best] else ""


def _empty(rows: SeenRows, index: int) -> int:
    query = f"SELECT count(*) FROM seen WHERE c{index:d} = ''"  # noqa: S608 - a number
    return int(rows.ask(query)[0][0])


def _present(rows: SeenRows, index: int) -> list[str]:
    query = f"SELECT DISTINCT c{index:d} FROM seen WHERE c{index:d} IN $marks"  # noqa: S608
    return [str(row[0]) for row in rows.ask(query, {"marks": list(NULL_MARKS)})]

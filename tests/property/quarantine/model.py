"""What must be known of every row: a plain book, row by row, for each version that there was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count

PUBLISHED, MALFORMED = "published", "malformed"
Filed = tuple[str, str]
"""The run and the rule that a row is filed under."""
Fate = str | Filed
Book = dict[int, Fate]
"""Every row that was read, by a number that no other row has."""


@dataclass
class Model:
    """A version begins with the book of the version that was shown when it was published."""

    books: dict[int, Book] = field(default_factory=dict)
    shown: int | None = None
    discarded: set[Filed] = field(default_factory=set)
    _rows: count[int] = field(default_factory=count)

    @property
    def book(self) -> Book:
        return {} if self.shown is None else self.books[self.shown]

    def publish(
        self,
        version: int,
        published: int,
        quarantined: Counter[Filed],
        malformed: int,
        *,
        renews: bool,
    ) -> None:
        """A batch that was read: what became of each of its rows."""
        book = {} if renews else dict(self.book)
        fates: list[Fate] = (
            [PUBLISHED] * published + [MALFORMED] * malformed + [*quarantined.elements()]
        )
        book.update((next(self._rows), fate) for fate in fates)
        self._show(version, book)

    def replay(self, version: int, taken: Iterable[Filed], again: Counter[Filed]) -> None:
        """Quarantined rows under what is taken are published, but for those that wait again."""
        book, left = dict(self.book), list(again.elements())
        chosen = set(taken)
        for row, fate in self.book.items():
            if fate in chosen:
                book[row] = left.pop() if left else PUBLISHED
        assert not left, "more rows wait again than were taken"
        self._show(version, book)

    def roll_back(self, version: int) -> None:
        self.shown = version

    def quarantined(self) -> Counter[Filed]:
        """How many rows wait under each, where this version is shown."""
        found = (fate for fate in self.book.values() if isinstance(fate, tuple))
        return Counter(fate for fate in found if fate not in self.discarded)

    def balance(self) -> tuple[int, int, int, int, int]:
        """Read, published, waiting, discarded, malformed."""
        fates = Counter(self.book.values())
        quarantined = self.quarantined().total()
        off = sum(n for fate, n in fates.items() if isinstance(fate, tuple)) - quarantined
        return len(self.book), fates[PUBLISHED], quarantined, off, fates[MALFORMED]

    def _show(self, version: int, book: Book) -> None:
        self.books[version] = book
        self.shown = version

"""Documents of many decisions: fetched together, and read once where they are shared."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from sqlalchemy import ColumnElement, func, select

from lakeguard.state.bulk_writes import in_pieces
from lakeguard.state.schema import documents
from lakeguard.state.transaction import Transaction

MOST_TEXT = 16_000_000
"""How much text of documents is held together: the evidence of a table of many files is long."""
_KEPT = 1_024
Documents = Callable[[str], str]
"""The text of a document by its content hash; KeyError where nothing has it."""
T = TypeVar("T")


class Library:
    """Documents by hash: those of the decisions at hand are fetched together."""

    def __init__(self, org_id: str) -> None:
        self._org_id = org_id
        self._texts: dict[str, str] = {}

    def sizes(self, tx: Transaction, hashes: set[str]) -> dict[str, int]:
        """How long each document is, before any is fetched."""
        return dict(self._asked(tx, hashes, func.length(documents.c.body)))

    def fetch(self, tx: Transaction, hashes: set[str]) -> None:
        """Forget what is not wanted any more, and get what is new."""
        self._texts = {key: text for key, text in self._texts.items() if key in hashes}
        missing = hashes - self._texts.keys()
        self._texts.update(self._asked(tx, missing, documents.c.body))

    def _asked(
        self, tx: Transaction, hashes: set[str], what: ColumnElement[Any]
    ) -> Iterator[tuple[str, Any]]:
        wanted, table = sorted(hashes), documents.c
        for piece in in_pieces(wanted):
            some = table.content_hash.in_(piece)
            asked = select(table.content_hash, what).where(table.org_id == self._org_id, some)
            yield from ((row[0], row[1]) for row in tx.execute(asked))

    def __call__(self, content_hash: str) -> str:
        return self._texts[content_hash]


class Shelf(Generic[T]):
    """Documents of one kind as nouns: each is read once while it is among the last used."""

    def __init__(self, texts: Documents, read: Callable[[str], T]) -> None:
        self._texts = texts
        self._read = read
        self._held: OrderedDict[str, T] = OrderedDict()

    def __call__(self, content_hash: str) -> T:
        if content_hash not in self._held:
            self._held[content_hash] = self._read(self._texts(content_hash))
            if len(self._held) > _KEPT:
                self._held.popitem(last=False)
        self._held.move_to_end(content_hash)
        return self._held[content_hash]

"""Documents of many decisions: fetched in batches, parsed once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from sqlalchemy import ColumnElement, func, select

from lakeguard.state.bulk_writes import in_pieces
from lakeguard.state.schema import documents
from lakeguard.state.transaction import Transaction

MOST_TEXT = 16_000_000
"""Characters held at once: the evidence of a table with many files is long."""
_CACHED = 1_024
Documents = Callable[[str], str]
"""The text of a document by content hash; raises KeyError."""
T = TypeVar("T")


class Library:
    """Documents by hash, prefetched for the current decisions."""

    def __init__(self, org_id: str) -> None:
        self._org_id = org_id
        self._texts: dict[str, str] = {}

    def sizes(self, tx: Transaction, hashes: set[str]) -> dict[str, int]:
        """Lengths of documents, without fetching them."""
        return dict(self._fetched(tx, hashes, func.length(documents.c.body)))

    def fetch(self, tx: Transaction, hashes: set[str]) -> None:
        """Drop documents no longer wanted and fetch new ones."""
        self._texts = {key: text for key, text in self._texts.items() if key in hashes}
        missing = hashes - self._texts.keys()
        self._texts.update(self._fetched(tx, missing, documents.c.body))

    def _fetched(
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
    """An LRU cache of parsed documents of one kind."""

    def __init__(self, texts: Documents, read: Callable[[str], T]) -> None:
        self._texts = texts
        self._read = read
        self._held: OrderedDict[str, T] = OrderedDict()

    def __call__(self, content_hash: str) -> T:
        if content_hash not in self._held:
            self._held[content_hash] = self._read(self._texts(content_hash))
            if len(self._held) > _CACHED:
                self._held.popitem(last=False)
        self._held.move_to_end(content_hash)
        return self._held[content_hash]

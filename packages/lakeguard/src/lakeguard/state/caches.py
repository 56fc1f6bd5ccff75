"""Caches of values derived from immutable rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from sqlalchemy import Table, select, tuple_

from lakeguard.state.bulk_writes import in_pieces
from lakeguard.state.transaction import Transaction

T = TypeVar("T")


class Remembered(Generic[T]):
    """Keyed by definition hash or version id, so a key always means the same value.

    Thread-safe: at worst two threads compute the same entry."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[str, T] = {}

    def of(
        self, keys: Collection[str], work_out: Callable[[set[str]], Mapping[str, T]]
    ) -> dict[str, T]:
        """Values by key; ``work_out`` computes the missing ones."""
        known = {key: self._known.get(key) for key in keys}
        found = {key: value for key, value in known.items() if value is not None}
        missing = known.keys() - found.keys()
        if not missing:
            return found
        new = work_out(missing)
        if len(self._known) + len(new) > self._most:
            self._known.clear()
        self._known.update(new)
        return {**found, **new}


@dataclass(frozen=True)
class Definitions(Generic[T]):
    """Objects built from definition revisions. Revisions are immutable, so a concurrent apply is
    harmless."""

    revisions: Table
    key: str
    """The column that identifies the definition."""
    parse: Callable[[str], T]
    _remembered: Remembered[T] = field(default_factory=lambda: Remembered[T](most=50_000))

    def of(self, tx: Transaction, rows: Collection[Any]) -> dict[str, T]:
        """Values by definition hash; each row has its key, revision and hash."""

        def read(missing: set[str]) -> dict[str, T]:
            table, found = self.revisions.c, dict[str, T]()
            new = {row.definition_hash: row for row in rows if row.definition_hash in missing}
            wanted = [(getattr(row, self.key), row.revision) for row in new.values()]
            for some in in_pieces(wanted):
                query = select(table.definition_hash, table.definition).where(
                    tuple_(table[self.key], table.revision).in_(some)
                )
                found |= {digest: self.parse(text) for digest, text in tx.execute(query)}
            return found

        return self._remembered.of({row.definition_hash for row in rows}, read)

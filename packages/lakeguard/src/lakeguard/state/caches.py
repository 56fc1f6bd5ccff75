"""What was worked out of rows that never change, kept for whoever asks again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from sqlalchemy import Table, select, tuple_

from lakeguard.state.bulk_writes import in_pieces
from lakeguard.state.transaction import Transaction

T = TypeVar("T")


class Remembered(Generic[T]):
    """By the hash of a definition, or the id of a version: the same key is the same thing, whoever
    has it. Threads may share it: at worst two of them work out the same."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[str, T] = {}

    def of(
        self, keys: Collection[str], work_out: Callable[[set[str]], Mapping[str, T]]
    ) -> dict[str, T]:
        """By key; ``work_out`` is asked for those that are new."""
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
    """What is made of definitions. They are read from revisions, which never change: who applies
    another meanwhile disturbs nothing."""

    revisions: Table
    key: str
    """The column that says whose revision it is."""
    parse: Callable[[str], T]
    _remembered: Remembered[T] = field(default_factory=lambda: Remembered[T](most=50_000))

    def of(self, tx: Transaction, rows: Collection[Any]) -> dict[str, T]:
        """By the hash of the definition; each row has its key, its revision and that hash."""

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

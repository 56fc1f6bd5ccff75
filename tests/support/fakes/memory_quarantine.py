"""Tables of quarantined rows in memory: the plainest thing that keeps their protocol."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lakeguard.lake.port import Shown, ShownFile
from lakeguard_sdk.types.schema import TableSchema


class MemoryQuarantineTables:
    """Committing is strict: on the commit that was seen, or not."""

    def __init__(self) -> None:
        self.tables: dict[str, Shown] = {}

    def shown(self, location: str) -> Shown:
        return self.tables.get(location, Shown(-1, frozenset()))

    def show(
        self,
        location: str,
        schema: TableSchema,
        at: int,
        adds: Sequence[ShownFile],
        removes: Iterable[str],
    ) -> bool:
        seen = self.shown(location)
        if seen.commit != at:
            return False
        paths = (seen.paths - set(removes)) | {file.path for file in adds}
        self.tables[location] = Shown(at + 1, paths)
        return True

    @property
    def files(self) -> int:
        return sum(len(table.paths) for table in self.tables.values())

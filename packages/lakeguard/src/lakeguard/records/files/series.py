"""Where the records of one kind about one target are, in columns: millions fit into memory, and
are read from a file without a look at each."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from lakeguard_sdk.records.record import MetadataTarget

_NUMBERS = ("q", "Q", "q", "Q")
"""Times, ids, versions, places."""
ROW_BYTES = 8 * len(_NUMBERS) + 1


class OrderKey(NamedTuple):
    """Records are ordered by it."""

    micros: int
    """Of the time of production, since 1970."""
    short_id: int
    version: int


class Row(NamedTuple):
    key: OrderKey
    place: int


def short_id(record_id: str) -> int:
    """The first 64 bits of the digest in a record id."""
    return int(record_id[4:20], 16)


_DAY, _SECOND = 86_400_000_000, 1_000_000
_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00Z")


def micros_of(time: datetime) -> int:
    since = time - _EPOCH
    return since.days * _DAY + since.seconds * _SECOND + since.microseconds


class Series:
    """Rows sorted by their key. Not for several threads at once."""

    def __init__(self, kind: str, target: MetadataTarget) -> None:
        self.kind, self.target = kind, target
        self._columns = tuple(array(code) for code in _NUMBERS)
        self._replaced = bytearray()
        """1 for rows of facts that have a higher version."""
        self._newest: dict[int, int] | None = {}
        """Places of the highest versions by short id; None until it is needed."""

    def __len__(self) -> int:
        return len(self._replaced)

    def add(self, row: Row) -> None:
        newest = self._newest_places()
        key = row.key
        before = newest.get(key.short_id)
        replaced = False
        if before is not None:
            at = self._columns[3].index(before)
            replaced = self._columns[2][at] > key.version
            self._replaced[at] = not replaced
        if not replaced:
            newest[key.short_id] = row.place
        at = self._position(key)
        for column, value in zip(self._columns, (*key, row.place), strict=True):
            column.insert(at, value)
        self._replaced.insert(at, replaced)

    def versions(self, fact: int) -> dict[int, int]:
        """Places of the stored versions of a fact, by version."""
        newest = self._newest_places().get(fact)
        if newest is None:
            return {}
        _, ids, versions, places = self._columns
        return {versions[at]: places[at] for at, each in enumerate(ids) if each == fact}

    def has(self, fact: int) -> bool:
        return fact in self._newest_places()

    def latest(self) -> Row | None:
        return next(self.rows(newest_first=True), None)

    def rows(
        self,
        *,
        since: int | None = None,
        until: int | None = None,
        beyond: OrderKey | None = None,
        newest_first: bool = True,
        every_version: bool = False,
    ) -> Iterator[Row]:
        """Rows in order, from those after the key ``beyond``; the series does not change while
        they are read."""
        times, ids, versions, places = self._columns
        start = 0 if since is None else bisect_left(times, since)
        end = len(times) if until is None else bisect_left(times, until)
        if beyond is not None and newest_first:
            end = min(end, self._position(beyond))
        elif beyond is not None:
            start = max(start, self._position(beyond._replace(version=beyond.version + 1)))
        steps = range(end - 1, start - 1, -1) if newest_first else range(start, end)
        for at in steps:
            if every_version or not self._replaced[at]:
                yield Row(OrderKey(times[at], ids[at], versions[at]), places[at])

    def to_bytes(self) -> bytes:
        return b"".join([*(column.tobytes() for column in self._columns), bytes(self._replaced)])

    def fill(self, content: memoryview) -> None:
        """Takes the rows that ``to_bytes`` gave."""
        count = len(content) // ROW_BYTES
        for number, column in enumerate(self._columns):
            column.frombytes(content[number * count * 8 : (number + 1) * count * 8])
        self._replaced += content[len(_NUMBERS) * count * 8 :]
        self._newest = None

    def _newest_places(self) -> dict[int, int]:
        if self._newest is None:
            _, ids, _, places = self._columns
            self._newest = {
                ids[at]: places[at] for at, replaced in enumerate(self._replaced) if not replaced
            }
        return self._newest

    def _position(self, key: OrderKey) -> int:
        """Of the first row that is not before the key."""
        times, ids, versions, _ = self._columns
        if not times or times[-1] < key.micros:
            return len(times)
        first = bisect_left(times, key.micros)
        last = bisect_left(times, key.micros + 1, first)
        rest = range(first, last)
        return first + bisect_left(rest, key[1:], key=lambda at: (ids[at], versions[at]))

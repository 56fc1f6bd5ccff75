"""What every load must make of a table, told a second time: in pandas, and from the words alone.

Tables are frames of Python objects, so that NULL is None and nothing else. A key, a row's place
in an order and a row's content are tuples.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from lakeguard_sdk.core.enums import (
    Deletes,
    LateRows,
    LoadType,
    NullWatermark,
)
from lakeguard_sdk.model.load import (
    DELETED_AT,
    IS_CURRENT,
    IS_DELETED,
    NEW_ROWS_ONLY,
    VALID_FROM,
    VALID_TO,
    Load,
    parse_lag,
)

Row = dict[str, Any]
Key = tuple[Any, ...]
DELETIONS = ("delete", "d")
FILE = "the file of the row"
ORDERED_BY_FILE = frozenset({LoadType.APPEND, LoadType.INCREMENTAL, LoadType.CDC, LoadType.SCD2})


class RunRefused(Exception):
    """The batch is one that the load must not accept."""


@dataclass(frozen=True)
class Between:
    """The window of a back-fill."""

    column: str
    start: Any
    end: Any

    def holds(self, row: Row) -> bool:
        value = row[self.column]
        return value is not None and self.start <= value <= self.end


@dataclass(frozen=True)
class Tally:
    inserted: int = 0
    updated: int = 0
    deleted: int = 0
    unchanged: int = 0
    late: int = 0
    duplicates: int = 0


@dataclass(frozen=True)
class Shown:
    """What a version shows, and how far it has read."""

    rows: pd.DataFrame = field(default_factory=pd.DataFrame)
    files: frozenset[str] = frozenset()
    watermark: Any = None

    def unread(self, load: Load, landed: dict[str, list[Row]]) -> list[str]:
        known = self.files if load.type in NEW_ROWS_ONLY else frozenset()
        return sorted(name for name in landed if name not in known)

    def to_read(self, load: Load, landed: dict[str, list[Row]], *, again: bool) -> list[str]:
        """Files of a run, or of a back-fill, which reads what was read ``again``."""
        if again and load.type is LoadType.APPEND:
            if not self.files <= landed.keys():
                raise RunRefused("a file that was read is gone")
            return sorted(self.files)
        if again:
            return sorted(landed)
        unread = self.unread(load, landed)
        return sorted(landed) if unread and load.type is LoadType.PARTITION else unread


@dataclass(frozen=True)
class ExpectedRun:
    """What a load must come to: what the table shows then, and what happened to the batch."""

    shown: Shown
    tally: Tally


def table(rows: Iterable[Row], names: Sequence[str]) -> pd.DataFrame:
    """Values as they are, in the columns named; what a row lacks is NULL."""
    held = [[row.get(name) for name in names] for row in rows]
    return pd.DataFrame(held, columns=list(names), dtype=object)


def rows_of(frame: pd.DataFrame) -> list[Row]:
    names = list(frame.columns)
    return [dict(zip(names, row, strict=True)) for row in frame.itertuples(index=False)]


@dataclass(frozen=True)
class LoadModel:
    """One load of a table with these declared columns."""

    load: Load
    columns: tuple[str, ...]
    window: Between | None = None
    as_of: datetime = datetime(1970, 1, 1, tzinfo=UTC)

    @property
    def names(self) -> tuple[str, ...]:
        """Columns that the table has, but for hashes."""
        if self.load.type is LoadType.SCD2:
            return (*self.columns, VALID_FROM, VALID_TO, IS_CURRENT)
        soft = self.load.deletes is Deletes.SOFT
        return (*self.columns, IS_DELETED, DELETED_AT) if soft else self.columns

    def run(self, shown: Shown, files: dict[str, list[Row]]) -> ExpectedRun:
        """What the run makes of these files; raises where it must fail."""
        read = [{**row, FILE: name} for name in sorted(files) for row in files[name]]
        chosen, late = self._chosen(read, shown.watermark)
        rows = rows_of(shown.rows.reindex(columns=list(self.names)).astype(object))
        rows = [{name: _plain(value) for name, value in row.items()} for row in rows]
        after, tally = self._load(rows, chosen)
        reported = Shown(table(after, self.names), shown.files, shown.watermark)
        if self.window is None:
            highest = self._highest(chosen, shown.watermark)
            reported = replace(reported, files=shown.files | set(files), watermark=highest)
        return ExpectedRun(reported, replace(tally, late=tally.late + late))

    # -- which rows ----------------------------------------------------------------------------

    def _chosen(self, rows: list[Row], watermark: Any) -> tuple[list[Row], int]:
        """Rows of the window, or those the watermark lets through; and how many were late."""
        if self.window is not None:
            return [row for row in rows if self.window.holds(row)], 0
        name = self.load.watermark
        if not name:
            return rows, 0
        without = [row for row in rows if row[name] is None]
        if without and self.load.null_watermark is NullWatermark.REFUSE:
            raise RunRefused(f"a row has no {name}")
        held = [row for row in rows if row[name] is not None]
        loads_null = self.load.null_watermark is NullWatermark.LOAD
        if watermark is None or self.load.late is LateRows.LOAD:
            new = held
        else:
            bound = watermark - parse_lag(self.load.lag)  # type: ignore[operator]
            at = self.load.inclusive
            new = [row for row in held if row[name] > bound or (at and row[name] == bound)]
        return new + (without if loads_null else []), len(held) - len(new)

    def _highest(self, rows: list[Row], watermark: Any) -> Any:
        name = self.load.watermark
        values = [row[name] for row in rows if name and row[name] is not None]
        known = [] if watermark is None else [watermark]
        return max([*values, *known], default=None)

    # -- what they become ----------------------------------------------------------------------

    def _load(self, rows: list[Row], batch: list[Row]) -> tuple[list[Row], Tally]:
        kind = self.load.type
        if kind is LoadType.SCD2:
            return self._keep_history(rows, *self._latest(batch, self._moment))
        if kind in (LoadType.INCREMENTAL, LoadType.SNAPSHOT, LoadType.CDC):
            return self._merge(rows, *self._latest(batch, self.key))
        if kind is LoadType.APPEND and self.window is None:
            return self._append(rows, batch)
        inserts_by_key = kind is LoadType.APPEND and bool(self.load.keys)
        if inserts_by_key or (self.load.keys and self.load.order_by):
            batch = self._latest(batch, self.key)[0]
        if self.window is not None:
            stay = [row for row in rows if not self.window.holds(row)]
            if inserts_by_key:
                outside = {self.key(row) for row in stay}
                batch = [row for row in batch if self.key(row) not in outside]
            if not batch and len(stay) < len(rows):
                raise RunRefused("the window is empty")
            return stay + batch, Tally(inserted=len(batch), deleted=len(rows) - len(stay))
        if kind is LoadType.PARTITION:
            return self._replace_partitions(rows, batch)
        return batch, Tally(inserted=len(batch), deleted=len(rows))

    def _append(self, rows: list[Row], batch: list[Row]) -> tuple[list[Row], Tally]:
        if not self.load.keys:
            return rows + batch, Tally(inserted=len(batch))
        single, duplicates = self._latest(batch, self.key)
        known = {self.key(row) for row in rows}
        new = [row for row in single if self.key(row) not in known]
        unchanged = len(single) - len(new)
        return rows + new, Tally(inserted=len(new), unchanged=unchanged, duplicates=duplicates)

    def _replace_partitions(self, rows: list[Row], batch: list[Row]) -> tuple[list[Row], Tally]:
        def part(row: Row) -> Key:
            return tuple(row[name] for name in self.load.partition_by)

        brought = {part(row) for row in batch}
        stay = [row for row in rows if part(row) not in brought]
        return stay + batch, Tally(inserted=len(batch), deleted=len(rows) - len(stay))

    def _merge(self, rows: list[Row], batch: list[Row], duplicates: int) -> tuple[list[Row], Tally]:
        after = {self.key(row): row for row in rows}
        happened = [self._meet(after, row) for row in batch]
        counts = {word: happened.count(word) for word in ("inserted", "updated", "late")}
        deleted, unchanged = happened.count("deleted"), happened.count("unchanged")
        if self.load.type is LoadType.SNAPSHOT:
            if rows and not batch and not self.load.allow_empty:
                raise RunRefused("the snapshot is empty")
            brought = {self.key(row) for row in batch}
            missing = [key for key, row in after.items() if key not in brought and self._may(row)]
            gone = [self._remove(after, key, {}) for key in missing]
            deleted += gone.count("deleted")
            counts["updated"] += gone.count("updated")
        return list(after.values()), Tally(
            **counts, deleted=deleted, unchanged=unchanged, duplicates=duplicates
        )

    def _may(self, row: Row) -> bool:
        """Whether a snapshot that lacks the row says that it is gone."""
        return self.window is None or self.window.holds(row)

    def _meet(self, after: dict[Key, Row], new: Row) -> str:
        """One row of the batch and what the table has of its key."""
        key = self.key(new)
        old = after.get(key)
        if self._deletes(new):
            if old is None and self.load.deletes is Deletes.HARD:
                return "unchanged"
            if old is None:
                row = {name: new.get(name) for name in self.columns}
                after[key] = {**row, IS_DELETED: True, DELETED_AT: self.as_of}
                return "inserted"
            if self.place(new) < self.place(old):
                return "late"
            return self._remove(after, key, new)
        row = {name: new.get(name) for name in self.columns}
        if self.load.deletes is Deletes.SOFT:
            row |= {IS_DELETED: False, DELETED_AT: None}
        if old is not None and self.place(new) < self.place(old):
            return "late"
        if old == row:
            return "unchanged"
        after[key] = row
        return "inserted" if old is None else "updated"

    def _remove(self, after: dict[Key, Row], key: Key, event: Row) -> str:
        """Away, or marked since when; a marked row takes its place in the order from the event."""
        old = after[key]
        if self.load.deletes is Deletes.HARD:
            del after[key]
            return "deleted"
        since = old[DELETED_AT] if old[IS_DELETED] else self.as_of
        moved = {name: event[name] for name in self.load.order_by if event}
        after[key] = {**old, **moved, IS_DELETED: True, DELETED_AT: since}
        return "unchanged" if after[key] == old else "updated"

    # -- history -------------------------------------------------------------------------------

    def _keep_history(
        self, rows: list[Row], batch: list[Row], duplicates: int
    ) -> tuple[list[Row], Tally]:
        before = {self._state(row): row for row in rows}
        touched = {self.key(row) for row in batch}
        after = {state: row for state, row in before.items() if state[:-1] not in touched}
        for key in touched:
            own = [row for row in rows if self.key(row) == key]
            states = self._states(own, [row for row in batch if self.key(row) == key])
            after |= {self._state(row): row for row in states}
        both = before.keys() & after.keys()
        moved = sum(self._meaning(before[state]) != self._meaning(after[state]) for state in both)
        return list(after.values()), Tally(
            inserted=len(after) - len(both),
            updated=moved,
            deleted=len(before) - len(both),
            duplicates=duplicates,
        )

    def _states(self, known: list[Row], batch: list[Row]) -> list[Row]:
        """The states of one key, in time: neighbours that say the same are one."""
        events: dict[Any, Row | None] = {
            row[VALID_TO]: None for row in known if row[VALID_TO] is not None
        }
        events |= {row[VALID_FROM]: row for row in known}
        for row in batch:
            there = events.get(self._time(row))
            if there is None or self.place(row) >= self.place(there):
                events[self._time(row)] = None if self._deletes(row) else row
        turns: list[tuple[Any, Row | None]] = []
        for at in sorted(events):
            row, last = events[at], turns[-1][1] if turns else None
            if self._content(row) != self._content(last):
                turns.append((at, row))
        ends = [*(at for at, _ in turns[1:]), None]
        return [
            {
                **{name: row.get(name) for name in self.columns},
                VALID_FROM: at,
                VALID_TO: end,
                IS_CURRENT: end is None,
            }
            for (at, row), end in zip(turns, ends, strict=False)
            if row is not None
        ]

    def _content(self, row: Row | None) -> Key | None:
        """What makes one state another: all but its key and its time."""
        apart = {*self.load.keys, self.load.effective}
        return None if row is None else tuple(row.get(n) for n in self.columns if n not in apart)

    def _meaning(self, row: Row) -> tuple[Any, ...]:
        return (self._content(row), row[VALID_TO])

    def _state(self, row: Row) -> Key:
        return (*self.key(row), row[VALID_FROM])

    def _time(self, row: Row) -> Any:
        return row[self.load.effective] if self.load.effective else self.as_of

    def _moment(self, row: Row) -> Key:
        """What names one row of a batch: a key, and the time from which it holds."""
        own = (row[self.load.effective],) if self.load.effective else ()
        return (*self.key(row), *own)

    # -- keys and orders -----------------------------------------------------------------------

    def key(self, row: Row) -> Key:
        return tuple(row[name] for name in self.load.keys)

    def place(self, row: Row) -> tuple[Any, ...]:
        """NULL comes before every value."""
        held = [row[name] for name in self.load.order_by]
        return tuple((value is not None, 0 if value is None else value) for value in held)

    def _turn(self, row: Row) -> tuple[Any, ...]:
        """The place of a row among those of its key: where the order does not tell, its file.

        One after the other, the first file of an APPEND leaves nothing to later ones.
        """
        if self.load.type not in ORDERED_BY_FILE:
            return self.place(row)
        number = int(row[FILE].partition(".")[0])
        return (*self.place(row), -number if self.load.type is LoadType.APPEND else number)

    def _said(self, row: Row) -> Key:
        return tuple(row.get(name) for name in (*self.columns, self.load.operation))

    def _deletes(self, row: Row) -> bool:
        return bool(self.load.operation) and row[self.load.operation].lower() in DELETIONS

    def _latest(self, batch: list[Row], name: Any) -> tuple[list[Row], int]:
        """The last row of each key, and how many it stands for; equal rows are one."""
        by_key: dict[Key, list[Row]] = {}
        for row in batch:
            if None in name(row):
                raise RunRefused("rows have no value in their key")
            by_key.setdefault(name(row), []).append(row)
        single = []
        for key, rows in by_key.items():
            highest = max(map(self._turn, rows))
            last = [row for row in rows if self._turn(row) == highest]
            if any(self._said(row) != self._said(last[0]) for row in last):
                raise RunRefused(f"several rows of the key {key} differ")
            single.append(last[0])
        return single, len(batch) - len(single)


def _plain(value: Any) -> Any:
    """pandas fills what a frame lacked with NaN."""
    return None if isinstance(value, float) and pd.isna(value) else value

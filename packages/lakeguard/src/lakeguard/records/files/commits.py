"""Stores records: one append, and one sync, for all threads that store at the same time.

Each call is stored whole or not at all. Whether a record is new is decided while this process is
alone on the log, or again if another one was quicker.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lakeguard.records.files.index import RecordIndex
from lakeguard.records.files.log import LARGEST_FILE, LogEnd, RecordLog, line_at
from lakeguard.records.files.log_lines import write_line
from lakeguard.records.files.series import OrderKey, Row, Series, micros_of, short_id
from lakeguard_sdk.errors import RecordConflict, RecordsUnavailable
from lakeguard_sdk.records.record import MetadataRecord, StoredRecord, conflict_of, content_of

_MOST_AT_ONCE = 50_000
"""Records of one append, unless a single call has more."""


class Checked(NamedTuple):
    """A record that may be stored."""

    record_id: str
    record: MetadataRecord


@dataclass
class _Call:
    """One call of ``bulk_store``, which waits to be answered."""

    records: Sequence[Checked]
    stored: Sequence[StoredRecord] = ()
    error: BaseException | None = None
    done: bool = False

    def answer(self) -> Sequence[StoredRecord]:
        if self.error is not None:
            raise self.error
        return self.stored


@dataclass
class _Append:
    """What the calls of one append store."""

    series: list[Series] = field(default_factory=list)
    batches: list[list[Checked]] = field(default_factory=list)
    taken: dict[str, dict[int, Checked]] = field(default_factory=dict)
    """Records by id and version."""

    def lines(self, sequence: int) -> list[bytes]:
        found = []
        for batch in self.batches:
            for left, each in zip(range(len(batch) - 1, -1, -1), batch, strict=True):
                found.append(write_line(sequence, left, each.record_id, each.record.text))
                sequence += 1
        return found


class Committer:
    def __init__(self, log: RecordLog, index: RecordIndex) -> None:
        self._log, self._index = log, index
        self._calls: list[_Call] = []
        self._calling = threading.Lock()
        self._turn = threading.Lock()

    def commit(self, records: Sequence[Checked]) -> Sequence[StoredRecord]:
        """Returns when the records are durable, and in the index."""
        call = _Call(records)
        with self._calling:
            self._calls.append(call)
        with self._turn:
            while not call.done:
                self._commit_waiting()
        return call.answer()

    def _commit_waiting(self) -> None:
        calls = self._next_calls()
        try:
            with self._log.alone():
                while not self._is_committed(calls):
                    pass
        except BaseException as error:
            for call in calls:
                call.error = call.error or _shared_error(error, self._log.place)
            if not isinstance(error, Exception):
                raise
        finally:
            for call in calls:
                call.done = True

    def _next_calls(self) -> list[_Call]:
        with self._calling:
            count, total = 0, 0
            for call in self._calls:
                total += len(call.records)
                if count and total > _MOST_AT_ONCE:
                    break
                count += 1
            calls, self._calls = self._calls[:count], self._calls[count:]
        return calls

    def _is_committed(self, calls: Sequence[_Call]) -> bool:
        """False if another process appended meanwhile."""
        append = _Append()
        with self._index.lock:
            self._index.catch_up(self._log)
            end = self._index.end
            for call in calls:
                try:
                    call.stored, call.error = self._decide(call.records, append), None
                except RecordConflict as error:
                    call.error = error
        lines = append.lines(end.sequence)
        if not lines:
            return True
        place = self._log.append(lines, end)
        if place is None:
            return False
        self._take_in(append, lines, place, end)
        return True

    def _decide(self, records: Sequence[Checked], append: _Append) -> list[StoredRecord]:
        """What becomes of the records of one call; nothing is appended if one is refused."""
        batch: list[Checked] = []
        series: list[Series] = []
        taken: dict[str, dict[int, Checked]] = {}
        stored = []
        for each in records:
            found = self._index.of(each.record.kind, each.record.target)
            known = {**append.taken.get(each.record_id, {}), **taken.get(each.record_id, {})}
            is_new = self._is_new(each, found, known)
            if is_new:
                taken.setdefault(each.record_id, {})[each.record.version] = each
                batch.append(each)
                series.append(found)
            stored.append(
                StoredRecord(record_id=each.record_id, version=each.record.version, is_new=is_new)
            )
        for record_id, versions in taken.items():
            append.taken.setdefault(record_id, {}).update(versions)
        if batch:
            append.batches.append(batch)
            append.series += series
        return stored

    def _is_new(self, given: Checked, series: Series, taken: dict[int, Checked]) -> bool:
        version, fact = given.record.version, short_id(given.record_id)
        places = series.versions(fact) if series.has(fact) else {}
        if not taken and not places:
            return True
        if version in taken:
            same = _is_same(given.record, json.loads(taken[version].record.text))
        elif version in places:
            same = _is_same(given.record, line_at(self._log, places[version]).record)
        else:
            same = False
        highest = max([*taken, *places])
        if not same and version <= highest:
            raise conflict_of(given.record, highest)
        return not same

    def _take_in(self, append: _Append, lines: Sequence[bytes], place: int, before: LogEnd) -> None:
        records = (each for batch in append.batches for each in batch)
        rows = []
        for each, series, line in zip(records, append.series, lines, strict=True):
            record = each.record
            key = OrderKey(micros_of(record.produced_at), short_id(each.record_id), record.version)
            rows.append((series, Row(key, place)))
            place += len(line)
        after = LogEnd(place >> 32, place & LARGEST_FILE, before.sequence + len(lines))
        self._index.extend(rows, before, after)


def _is_same(record: MetadataRecord, stored: dict[str, Any]) -> bool:
    return content_of(json.loads(record.text)) == content_of(stored)


def _shared_error(error: BaseException, place: str) -> BaseException:
    """What the other threads of an append raise."""
    if isinstance(error, Exception):
        return error
    return RecordsUnavailable(place=place, reason="the append was interrupted")

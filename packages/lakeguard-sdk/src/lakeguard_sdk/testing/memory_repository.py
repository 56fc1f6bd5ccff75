"""Records in memory: a fake for tests, which passes the suite of every repository."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from lakeguard_sdk.errors import UnknownCursor
from lakeguard_sdk.records.kinds import MetadataKind
from lakeguard_sdk.records.payloads import shipped_kinds
from lakeguard_sdk.records.query import MetadataQuery, RecordPage, RecordTail
from lakeguard_sdk.records.record import (
    MetadataRecord,
    MetadataTarget,
    StoredRecord,
    conflict_of,
    content_of,
)


class Checks(Protocol):
    """What may be stored, as ``lakeguard.records.checks.KnownKinds`` decides it."""

    def check(self, record: MetadataRecord, tenant: str) -> str: ...


class _Stored(NamedTuple):
    produced_at: datetime
    record_id: str
    version: int
    record: MetadataRecord


class MemoryRepository:
    """A ``MetadataRepository`` that forgets all with its process. Threads may share it."""

    def __init__(
        self,
        tenant: str,
        checks: Callable[[Iterable[MetadataKind]], Checks],
        is_new_version: Callable[[MetadataKind, Sequence[MetadataKind]], bool],
    ) -> None:
        self._tenant, self._checks, self._is_new_version = tenant, checks, is_new_version
        self._stored: list[_Stored] = []
        self._kinds = {kind.kind: {kind.version: kind} for kind in shipped_kinds()}
        self._lock = threading.RLock()

    def store(self, record: MetadataRecord) -> StoredRecord:
        return self.bulk_store([record])[0]

    def bulk_store(self, records: Sequence[MetadataRecord]) -> Sequence[StoredRecord]:
        with self._lock:
            checks = self._checks(self.kinds())
            answer: list[StoredRecord] = []
            batch: list[_Stored] = []
            for record in records:
                record_id = checks.check(record, self._tenant)
                is_new = _is_new(record, record_id, [*self._stored, *batch])
                if is_new:
                    batch.append(_Stored(record.produced_at, record_id, record.version, record))
                answer.append(
                    StoredRecord(record_id=record_id, version=record.version, is_new=is_new)
                )
            self._stored += batch
            return answer

    def latest(self, target: MetadataTarget, kind: str) -> MetadataRecord | None:
        query = MetadataQuery(kinds=(kind,), targets=(target,), page_size=1)
        return next(iter(self.query(query).records), None)

    def history(
        self,
        target: MetadataTarget,
        kind: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 1000,
    ) -> Sequence[MetadataRecord]:
        query = MetadataQuery(
            kinds=(kind,), targets=(target,), since=since, until=until, every_version=True
        )
        return [each.record for each in self._matching(query)][:limit]

    def query(self, query: MetadataQuery) -> RecordPage:
        plain = query.model_copy(update={"page_token": "", "page_size": 1}).content_hash()
        found = list(self._matching(query))
        if query.page_token:
            fingerprint, _, last = query.page_token.rpartition(" ")
            if fingerprint != plain:
                raise UnknownCursor(cursor=query.page_token)
            key = self._stored[int(last)][:3]
            found = [each for each in found if (each[:3] < key) is query.newest_first]
            found = [each for each in found if each[:3] != key]
        page = found[: query.page_size]
        more = len(found) > len(page)
        return RecordPage(
            records=tuple(each.record for each in page),
            next_page=f"{plain} {self._stored.index(page[-1])}" if more else "",
        )

    def tail(self, cursor: str = "", limit: int = 500) -> RecordTail:
        if cursor and not (cursor.startswith("stored-") and cursor[7:].isdecimal()):
            raise UnknownCursor(cursor=cursor)
        start = int(cursor[7:]) if cursor else 0
        if start > len(self._stored):
            raise UnknownCursor(cursor=cursor)
        found = self._stored[start : start + limit]
        return RecordTail(
            records=tuple(each.record for each in found), cursor=_cursor(start + len(found))
        )

    def kinds(self) -> Sequence[MetadataKind]:
        return [self._kinds[name][max(self._kinds[name])] for name in sorted(self._kinds)]

    def register_kind(self, kind: MetadataKind) -> MetadataKind:
        with self._lock:
            versions = self._kinds.get(kind.kind, {})
            if self._is_new_version(kind, [*versions.values()]):
                self._kinds[kind.kind] = {**versions, kind.version: kind}
            return kind

    def _matching(self, query: MetadataQuery) -> Iterator[_Stored]:
        """In order."""
        highest: dict[str, int] = {}
        for each in self._stored:
            highest[each.record_id] = max(each.version, highest.get(each.record_id, 0))
        for each in sorted(self._stored, key=lambda one: one[:3], reverse=query.newest_first):
            current = each.version == highest[each.record_id]
            if (current or query.every_version) and query.matches(each.record):
                yield each


def _cursor(position: int) -> str:
    return f"stored-{position}" if position else ""


def _is_new(record: MetadataRecord, record_id: str, stored: Sequence[_Stored]) -> bool:
    """False if the same was stored before."""
    known = {each.version: each.record for each in stored if each.record_id == record_id}
    same = known.get(record.version)
    if same is not None and content_of(same.data) == content_of(record.data):
        return False
    if record.version <= max(known, default=0):
        raise conflict_of(record, max(known))
    return True

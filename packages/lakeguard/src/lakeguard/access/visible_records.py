"""Metadata records that a principal may read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from lakeguard.access.authorise import may
from lakeguard.access.principal import Action, Subject
from lakeguard.access.session import Session
from lakeguard.access.subjects import Subjects, dataset_in
from lakeguard_sdk.records.kinds import MetadataKind
from lakeguard_sdk.records.query import LARGEST_PAGE, MetadataQuery, RecordPage, RecordTail
from lakeguard_sdk.records.record import MetadataRecord, MetadataTarget, StoredRecord
from lakeguard_sdk.records.repository import MetadataRepository

_Sees = Callable[[MetadataRecord], bool]


@dataclass(frozen=True)
class VisibleRecords:
    """A repository as one principal sees it: records about datasets that it may read, and of kinds
    and namespaces that it may read. What it stores is not checked here."""

    repository: MetadataRepository
    session: Session
    subjects: Subjects

    def store(self, record: MetadataRecord) -> StoredRecord:
        return self.repository.store(record)

    def bulk_store(self, records: Sequence[MetadataRecord]) -> Sequence[StoredRecord]:
        return self.repository.bulk_store(records)

    def latest(self, target: MetadataTarget, kind: str) -> MetadataRecord | None:
        sees = self._sees()
        if sees is None:
            return self.repository.latest(target, kind)
        query = MetadataQuery(targets=(target,), kinds=(kind,))
        return next(filter(sees, self._all(query)), None)

    def history(
        self,
        target: MetadataTarget,
        kind: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 1000,
    ) -> Sequence[MetadataRecord]:
        sees = self._sees()
        if sees is None:
            return self.repository.history(target, kind, since=since, until=until, limit=limit)
        query = MetadataQuery(
            targets=(target,),
            kinds=(kind,),
            since=since,
            until=until,
            every_version=True,
            page_size=LARGEST_PAGE,
        )
        seen = filter(sees, self._all(query))
        return tuple(record for _, record in zip(range(limit), seen, strict=False))

    def query(self, query: MetadataQuery) -> RecordPage:
        """A page may be shorter than was asked for; it is empty only if it is the last one."""
        sees = self._sees()
        page = self.repository.query(query)
        if sees is None:
            return page
        while True:
            seen = tuple(filter(sees, page))
            if seen or not page.next_page:
                return RecordPage(records=seen, next_page=page.next_page)
            page = self.repository.query(query.model_copy(update={"page_token": page.next_page}))

    def tail(self, cursor: str = "", limit: int = 500) -> RecordTail:
        sees = self._sees()
        found = self.repository.tail(cursor, limit)
        if sees is None:
            return found
        while True:
            seen = tuple(filter(sees, found))
            if seen or not found.records:
                return RecordTail(records=seen, cursor=found.cursor)
            found = self.repository.tail(found.cursor, limit)

    def kinds(self) -> Sequence[MetadataKind]:
        return self.repository.kinds()

    def register_kind(self, kind: MetadataKind) -> MetadataKind:
        return self.repository.register_kind(kind)

    def _all(self, query: MetadataQuery) -> Iterator[MetadataRecord]:
        while True:
            page = self.repository.query(query)
            yield from page.records
            if not page.next_page:
                return
            query = query.model_copy(update={"page_token": page.next_page})

    def _sees(self) -> _Sees | None:
        """None: all of them."""
        principal = self.session.current()
        if may(principal, Action.READ).allowed:
            return None
        readable = self.subjects.readable_by(principal)

        def sees(record: MetadataRecord) -> bool:
            place = Subject(record_kind=record.kind, record_namespace=record.context.namespace)
            return (
                dataset_in(record.target) in readable or may(principal, Action.READ, place).allowed
            )

        return sees

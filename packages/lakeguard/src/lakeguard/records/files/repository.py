"""Records in files below ``<lake>/metadata/<organisation>/``.

The log is the truth; the index and the files of single records are computed from it, and may be
deleted. Any number of processes store and read at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Self

from lakeguard.records.checks import KnownKinds
from lakeguard.records.files.commits import Checked, Committer
from lakeguard.records.files.cursors import read_cursor, write_cursor
from lakeguard.records.files.index import RecordIndex
from lakeguard.records.files.index_files import IndexFiles
from lakeguard.records.files.kind_files import KindFiles
from lakeguard.records.files.local_log import LocalLog
from lakeguard.records.files.log import LogEnd, RecordLog, entries, log_id
from lakeguard.records.files.names import LOG
from lakeguard.records.files.object_log import ObjectLog
from lakeguard.records.files.pages import read_page, read_record
from lakeguard.records.files.projection import Projector, RecordFiles
from lakeguard.records.files.series import micros_of
from lakeguard_sdk.errors import (
    RecordRefused,
    RecordsUnavailable,
    StoreUnavailable,
    UnknownCursor,
    UnknownKind,
)
from lakeguard_sdk.records.kinds import MetadataKind
from lakeguard_sdk.records.query import MetadataQuery, RecordPage, RecordTail
from lakeguard_sdk.records.record import (
    MetadataRecord,
    MetadataTarget,
    StoredRecord,
)
from lakeguard_sdk.storage.storage import is_remote, join, local_path

_UNSAVED_SHARE = 32
"""The index is saved at a close if more than this part of all records is not in it."""


def open_repository(root: str, tenant: str) -> FilesRepository:
    """The records of an organisation, in its folder (``records_root``)."""
    place = join(root, LOG)
    log = ObjectLog(place) if is_remote(root) else LocalLog(Path(local_path(place)))
    return FilesRepository(root, tenant, log)


class FilesRepository:
    """A ``MetadataRepository``. Threads may share it."""

    def __init__(self, root: str, tenant: str, log: RecordLog) -> None:
        self._tenant, self._log = tenant, log
        self._kinds = KindFiles(root)
        self._known = KnownKinds(self._kinds.newest().values())
        self._index_files = IndexFiles(root, log)
        self._files = RecordFiles(root, log)
        self._index = self._index_files.load()
        self._saved = self._index.end.sequence
        self._committer = Committer(log, self._index)
        self._projector = Projector(self._files, self._index)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def store(self, record: MetadataRecord) -> StoredRecord:
        return self.bulk_store([record])[0]

    def bulk_store(self, records: Sequence[MetadataRecord]) -> Sequence[StoredRecord]:
        checked = [self._checked(record) for record in records]
        if not checked:
            return ()
        stored = self._committer.commit(checked)
        self._projector.wake()
        return stored

    def latest(self, target: MetadataTarget, kind: str) -> MetadataRecord | None:
        with self._current() as index:
            with index.lock:
                series = index.series.get((kind, target.key))
                row = None if series is None else series.latest()
            return None if row is None else read_record(self._log, row.place)

    def history(
        self,
        target: MetadataTarget,
        kind: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 1000,
    ) -> Sequence[MetadataRecord]:
        first = None if since is None else micros_of(since)
        last = None if until is None else micros_of(until)
        with self._current() as index:
            with index.lock:
                series = index.series.get((kind, target.key))
                if series is None:
                    return ()
                every = series.rows(since=first, until=last, every_version=True)
                rows = list(islice(every, limit))
            return tuple(read_record(self._log, row.place) for row in rows)

    def query(self, query: MetadataQuery) -> RecordPage:
        with self._current() as index:
            return read_page(self._log, index, query)

    def tail(self, cursor: str = "", limit: int = 500) -> RecordTail:
        with self._current() as index:
            end = index.end
            own = log_id(self._log)
        start = read_cursor(cursor, own)
        count = end.sequence - start.sequence
        if count < 0:
            raise UnknownCursor(cursor=cursor)
        found = list(islice(entries(self._log, start), min(count, limit)))
        after = found[-1].after if found else start
        return RecordTail(
            records=tuple(MetadataRecord.model_validate(each.line.record) for each in found),
            cursor=write_cursor(after, own),
        )

    def kinds(self) -> Sequence[MetadataKind]:
        return tuple(self._newest_kinds().values())

    def register_kind(self, kind: MetadataKind) -> MetadataKind:
        self._kinds.register(kind)
        self._newest_kinds()
        return kind

    def rebuild_index(self) -> int:
        """Computes the index and the files of records from the log again; the number of records."""
        self._index_files.discard()
        self._files.forget()
        rebuilt = RecordIndex(LogEnd())
        with self._log.shared():
            rebuilt.catch_up(self._log)
        with self._index.lock:
            self._index.series, self._index.end = rebuilt.series, rebuilt.end
        self.save_index()
        while not self._files.write_some(rebuilt.end):
            pass
        return rebuilt.end.sequence - 1

    def save_index(self) -> None:
        self._index_files.save(self._index)
        self._saved = self._index.end.sequence

    def damaged_files(self) -> list[str]:
        """Files of single records that have other bytes than were written."""
        return self._files.damaged_files()

    def close(self) -> None:
        """What was stored is durable without it; the next start is quicker with it."""
        self._projector.close()
        unsaved = self._index.end.sequence - self._saved
        if unsaved > self._saved // _UNSAVED_SHARE:
            with suppress(OSError, StoreUnavailable):
                self.save_index()
        self._log.close()

    @contextmanager
    def _current(self) -> Iterator[RecordIndex]:
        """The index, with all that was stored by now, by whichever process."""
        try:
            if self._log.has_more(self._index.end):
                with self._log.shared():
                    self._index.catch_up(self._log)
            yield self._index
        except StoreUnavailable as error:
            raise RecordsUnavailable(place=self._log.place, reason=str(error)) from None

    def _checked(self, record: MetadataRecord) -> Checked:
        try:
            return Checked(self._known.check(record, self._tenant), record)
        except (UnknownKind, RecordRefused):
            known = self._known
            if self._newest_kinds() == known.by_name:
                raise
        return Checked(self._known.check(record, self._tenant), record)

    def _newest_kinds(self) -> Mapping[str, MetadataKind]:
        """As registered by now, by whichever process."""
        newest = self._kinds.newest()
        if newest != self._known.by_name:
            self._known = KnownKinds(newest.values())
        return newest

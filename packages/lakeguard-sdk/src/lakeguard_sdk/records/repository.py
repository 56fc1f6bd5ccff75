"""The port of the record platform. Producers and consumers need nothing else.

Checklist for implementations, covered by ``lakeguard_sdk.testing.repository_contract``:

* ``store`` and ``bulk_store`` return once the records are durable and ``latest`` shows them;
* ``bulk_store`` stores all records or none, and says of each whether it was new;
* the same fact stored again changes nothing; the same fact with another content and no higher
  version raises ``RecordConflict``; a higher version replaces it everywhere but in ``history``
  and with ``every_version``;
* a record of an unknown kind, or with a payload that its schema refuses, raises
  ``UnknownKind`` or ``RecordRefused``;
* ``tail`` leaves out no record and repeats none, whoever stores meanwhile and whatever is
  compacted;
* a damaged record is never returned: it raises ``RecordsDamaged``, which names the place.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from lakeguard_sdk.records.kinds import MetadataKind
    from lakeguard_sdk.records.query import MetadataQuery, RecordPage, RecordTail
    from lakeguard_sdk.records.record import MetadataRecord, MetadataTarget, StoredRecord


class MetadataRepository(Protocol):
    def store(self, record: MetadataRecord) -> StoredRecord: ...
    def bulk_store(self, records: Sequence[MetadataRecord]) -> Sequence[StoredRecord]: ...
    def latest(self, target: MetadataTarget, kind: str) -> MetadataRecord | None:
        """The newest fact by the time it was produced, in its highest version."""

    def history(
        self,
        target: MetadataTarget,
        kind: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 1000,
    ) -> Sequence[MetadataRecord]:
        """Every version of every fact, newest first; ``until`` is exclusive."""

    def query(self, query: MetadataQuery) -> RecordPage: ...
    def tail(self, cursor: str = "", limit: int = 500) -> RecordTail:
        """What was stored since the cursor; without one, since the beginning."""

    def kinds(self) -> Sequence[MetadataKind]:
        """The newest version of each, by name."""

    def register_kind(self, kind: MetadataKind) -> MetadataKind:
        """Registers a kind, or its next version; the same again changes nothing. Raises
        ``KindRefused`` if payloads that were accepted would not be."""

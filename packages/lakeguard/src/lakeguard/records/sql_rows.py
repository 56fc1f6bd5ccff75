"""Records as rows of ``metadata_records``."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Row, Select, and_, select, update

from lakeguard.state.bulk_writes import in_pieces, insert_all, insert_into
from lakeguard.state.locks import hold
from lakeguard.state.schema import metadata_records, record_positions
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.errors import RecordsDamaged
from lakeguard_sdk.records.record import (
    MetadataRecord,
    MetadataTarget,
    StoredRecord,
    conflict_of,
    content_of,
)

_AT_ONCE = 5_000
"""Rows of one INSERT."""

_table = metadata_records.c


class Fact(NamedTuple):
    """A record that passed all checks."""

    record: MetadataRecord
    record_id: str
    body: str
    body_hash: str


def fact_of(record: MetadataRecord, record_id: str) -> Fact:
    body = json.dumps(record.data, sort_keys=True, separators=(",", ":"))
    return Fact(record, record_id, body, _hash(record_id, record.version, body))


def _hash(record_id: str, version: int, body: str) -> str:
    return hashlib.sha256(f"{record_id}\n{version}\n{body}".encode()).hexdigest()


def target_hash(target: MetadataTarget) -> str:
    """Short enough for an index, whatever the names."""
    return _hash_of_key(target.key)


@lru_cache(maxsize=10_000)
def _hash_of_key(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


# Reading.


class Read(NamedTuple):
    """A row as it is read."""

    record_id: str
    version: int
    kind: str
    target_hash: str
    produced_at: datetime
    body: str
    body_hash: str
    stored_seq: int

    @property
    def data(self) -> dict[str, Any]:
        """Raises ``RecordsDamaged`` if the row has other bytes than were written."""
        if _hash(self.record_id, self.version, self.body) != self.body_hash:
            raise self._damaged("its body is not what was stored")
        data: dict[str, Any] = json.loads(self.body)
        return data

    def record(self, data: Mapping[str, Any]) -> MetadataRecord:
        """``data`` is that of this row."""
        found = MetadataRecord.model_validate(data)
        columns = (self.version, self.kind, self.target_hash, self.produced_at)
        if columns != (found.version, found.kind, target_hash(found.target), found.produced_at):
            raise self._damaged("its columns and its body differ")
        return found

    def _damaged(self, reason: str) -> RecordsDamaged:
        place = f"metadata_records, record_id {self.record_id}, version {self.version}"
        return RecordsDamaged(place=place, reason=reason)


def rows_of(org_id: str) -> Select[Any]:
    return select(*(_table[name] for name in Read._fields)).where(_table.org_id == org_id)


def read_of(row: Row[Any]) -> Read:
    return Read._make(row)


def record_of(row: Row[Any]) -> MetadataRecord:
    found = read_of(row)
    return found.record(found.data)


# Writing. All writers of an organisation take turns: the numbers of rows are in the order of the
# commits, so whoever reads up to a number has read all that is below it.


def store_facts(tx: Transaction, facts: list[Fact]) -> list[StoredRecord]:
    """All or none; raises ``RecordConflict``."""
    hold(tx, f"records:{tx.org_id}")
    known = _stored(tx, {fact.record_id for fact in facts})
    had = {record_id for record_id, versions in known.items() if versions}
    new: dict[tuple[str, int], Fact] = {}
    answers = []
    for fact in facts:
        is_new = _is_new(tx, fact, known, new)
        answers.append(
            StoredRecord(record_id=fact.record_id, version=fact.record.version, is_new=is_new)
        )
    if new:
        _replace(tx, had & {record_id for record_id, _ in new})
        highest = {record_id: max(versions) for record_id, versions in known.items()}
        _insert(tx, list(new.values()), highest)
    return answers


def _stored(tx: Transaction, record_ids: Iterable[str]) -> dict[str, dict[int, str]]:
    """The hash of each version of each record."""
    found: dict[str, dict[int, str]] = {record_id: {} for record_id in record_ids}
    for some in in_pieces(sorted(found)):
        rows = select(_table.record_id, _table.version, _table.body_hash).where(
            _table.org_id == tx.org_id, _table.record_id.in_(some)
        )
        for record_id, version, body_hash in tx.execute(rows):
            found[record_id][version] = body_hash
    return found


def _is_new(
    tx: Transaction,
    fact: Fact,
    known: dict[str, dict[int, str]],
    new: dict[tuple[str, int], Fact],
) -> bool:
    versions, version = known[fact.record_id], fact.record.version
    if version in versions:
        if versions[version] != fact.body_hash and not _says_the_same(tx, fact, new):
            raise conflict_of(fact.record, version)
        return False
    if versions and version < max(versions):
        raise conflict_of(fact.record, max(versions))
    versions[version] = fact.body_hash
    new[fact.record_id, version] = fact
    return True


def _says_the_same(tx: Transaction, fact: Fact, new: dict[tuple[str, int], Fact]) -> bool:
    """Whether the texts differ only in the case of the target's names, or as ``1`` and ``1.0``."""
    key = (fact.record_id, fact.record.version)
    if key in new:
        other = new[key].record.data
    else:
        row = tx.execute(rows_of(tx.org_id).where(_is(*key))).one()
        other = read_of(row).data
    return content_of(other) == content_of(fact.record.data)


def _is(record_id: str, version: int) -> ColumnElement[bool]:
    return and_(_table.record_id == record_id, _table.version == version)


def _replace(tx: Transaction, record_ids: Iterable[str]) -> None:
    for some in in_pieces(sorted(record_ids)):
        tx.execute(
            update(metadata_records)
            .where(_table.org_id == tx.org_id, _table.record_id.in_(some), _table.is_newest)
            .values(is_newest=False)
        )


def _insert(tx: Transaction, facts: list[Fact], highest: Mapping[str, int]) -> None:
    at = tx.now()
    last = _advance(tx, len(facts))
    numbered = list(enumerate(facts, last - len(facts) + 1))
    for some in in_pieces(numbered, _AT_ONCE):
        rows = [_row(tx, fact, number, at, highest) for number, fact in some]
        insert_all(tx, metadata_records, rows)


def _row(
    tx: Transaction, fact: Fact, number: int, at: datetime, highest: Mapping[str, int]
) -> dict[str, Any]:
    record = fact.record
    target, context = record.target, record.context
    return {
        "record_id": fact.record_id,
        "version": record.version,
        "kind": record.kind,
        "source_id": target.source_id,
        "schema_name": target.schema_,
        "table_name": target.table,
        "target_hash": target_hash(target),
        "namespace": context.namespace,
        "run_id": context.run_id,
        "producer_id": record.producer_id,
        "produced_at": record.produced_at,
        "body": fact.body,
        "body_hash": fact.body_hash,
        "is_newest": record.version == highest[fact.record_id],
        "org_id": tx.org_id,
        "stored_seq": number,
        "stored_at": at,
    }


# Numbers.


class Log(NamedTuple):
    """The rows of an organisation in the order of their numbers."""

    log_id: str
    position: int
    """The last number given."""


def log_of(tx: Transaction) -> Log | None:
    """None if nothing was ever stored."""
    table = record_positions.c
    row = tx.execute(select(table.log_id, table.position).where(table.org_id == tx.org_id)).first()
    return None if row is None else Log(*row)


def _advance(tx: Transaction, count: int) -> int:
    """The last of so many new numbers."""
    table = record_positions.c
    first = insert_into(tx, record_positions).values(
        org_id=tx.org_id, log_id=new_id("log"), position=count
    )
    moved = first.on_conflict_do_update(
        index_elements=["org_id"], set_={"position": table.position + count}
    )
    return int(tx.scalar(moved.returning(table.position)) or 0)

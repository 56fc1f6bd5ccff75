"""Records in the State, on SQLite or PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Select, insert, select, tuple_

from lakeguard.records.checks import KnownKinds
from lakeguard.records.cursors import place_in, question, written
from lakeguard.records.kinds import is_new_version, newest
from lakeguard.records.sql_rows import (
    Fact,
    Read,
    fact_of,
    log_of,
    read_of,
    record_of,
    rows_of,
    store_facts,
    target_hash,
)
from lakeguard.state.locks import hold
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import metadata_kinds, metadata_records
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import format_instant
from lakeguard_sdk.errors import RecordRefused, UnknownCursor, UnknownKind
from lakeguard_sdk.records.kinds import MetadataKind
from lakeguard_sdk.records.payloads import shipped_kinds
from lakeguard_sdk.records.query import MetadataQuery, RecordPage, RecordTail
from lakeguard_sdk.records.record import MetadataRecord, MetadataTarget, StoredRecord

_CHUNK = 500
"""Rows read at once where conditions choose among them."""
_LOG = "log "

_table = metadata_records.c


class SqlRepository:
    """Implements ``MetadataRepository`` for one organisation."""

    def __init__(self, state: OrganisationState) -> None:
        self._state = state
        self._known = KnownKinds(shipped_kinds())

    # Storing.

    def store(self, record: MetadataRecord) -> StoredRecord:
        return self.bulk_store([record])[0]

    def bulk_store(self, records: Sequence[MetadataRecord]) -> Sequence[StoredRecord]:
        facts = self._checked(records)
        if not facts:
            return ()
        return tuple(self._state.transact(lambda tx: store_facts(tx, facts)))

    def _checked(self, records: Sequence[MetadataRecord]) -> list[Fact]:
        """What a kind accepts, its later versions accept: only a refusal asks for the kinds of
        now."""
        try:
            return self._facts(records)
        except (UnknownKind, RecordRefused):
            kinds = newest(self._registered())
            if kinds == self._known.by_name:
                raise
            self._known = KnownKinds(kinds.values())
        return self._facts(records)

    def _facts(self, records: Sequence[MetadataRecord]) -> list[Fact]:
        known, tenant = self._known, self._state.org_id
        return [fact_of(record, known.check(record, tenant)) for record in records]

    # Reading.

    def latest(self, target: MetadataTarget, kind: str) -> MetadataRecord | None:
        with self._state.read() as tx:
            query = _about(tx, target, kind).where(_table.is_newest)
            row = tx.execute(_in_order(query, newest_first=True).limit(1)).first()
        return None if row is None else record_of(row)

    def history(
        self,
        target: MetadataTarget,
        kind: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 1000,
    ) -> Sequence[MetadataRecord]:
        with self._state.read() as tx:
            query = _between(_about(tx, target, kind), since, until)
            rows = tx.execute(_in_order(query, newest_first=True).limit(limit)).all()
        return tuple(map(record_of, rows))

    def query(self, query: MetadataQuery) -> RecordPage:
        asked, after = question(query), None
        if query.page_token:
            after = _after(asked, query.page_token)
        found: list[Read] = []
        records: list[MetadataRecord] = []
        with self._state.read() as tx:
            for row, record in _matching(tx, query, after):
                if len(records) == query.page_size:
                    return RecordPage(records=tuple(records), next_page=_token(asked, found[-1]))
                found.append(row)
                records.append(record)
        return RecordPage(records=tuple(records))

    def tail(self, cursor: str = "", limit: int = 500) -> RecordTail:
        with self._state.read() as tx:
            log = log_of(tx)
            if log is None:
                if cursor:
                    raise UnknownCursor(cursor=cursor[:100])
                return RecordTail(records=(), cursor="")
            (start,) = place_in(_LOG + log.log_id, cursor, int) if cursor else (0,)
            if not 0 <= start <= log.position:
                raise UnknownCursor(cursor=cursor[:100])
            later = rows_of(tx.org_id).where(_table.stored_seq > start)
            rows = tx.execute(later.order_by(_table.stored_seq).limit(limit)).all()
        reached = read_of(rows[-1]).stored_seq if rows else start
        return RecordTail(
            records=tuple(map(record_of, rows)), cursor=written(_LOG + log.log_id, reached)
        )

    # Kinds.

    def kinds(self) -> Sequence[MetadataKind]:
        return tuple(newest(self._registered()).values())

    def register_kind(self, kind: MetadataKind) -> MetadataKind:
        def register(tx: Transaction) -> None:
            hold(tx, f"record kinds:{tx.org_id}")
            registered = [each for each in _kinds(tx) if each.kind == kind.kind]
            if is_new_version(kind, registered):
                tx.execute(insert(metadata_kinds).values(**_kind_row(tx, kind)))

        self._state.transact(register)
        return kind

    def _registered(self) -> list[MetadataKind]:
        with self._state.read() as tx:
            return _kinds(tx)


# Kinds as rows.


def _kinds(tx: Transaction) -> list[MetadataKind]:
    """Every version of each. The shipped ones are there without a row."""
    table = metadata_kinds.c
    rows = tx.scalars(select(table.body).where(table.org_id == tx.org_id))
    return [*shipped_kinds(), *map(MetadataKind.from_json, rows)]


def _kind_row(tx: Transaction, kind: MetadataKind) -> dict[str, Any]:
    return {
        "kind": kind.kind,
        "version": kind.version,
        "body": kind.to_json(),
        "org_id": tx.org_id,
        "registered_at": tx.now(),
        "registered_by": tx.actor,
    }


# Queries.


def _about(tx: Transaction, target: MetadataTarget, kind: str) -> Select[Any]:
    return rows_of(tx.org_id).where(_table.target_hash == target_hash(target), _table.kind == kind)


def _between(query: Select[Any], since: datetime | None, until: datetime | None) -> Select[Any]:
    if since is not None:
        query = query.where(_table.produced_at >= since)
    if until is not None:
        query = query.where(_table.produced_at < until)
    return query


_PLACE = (_table.produced_at, _table.record_id, _table.version)


def _in_order(query: Select[Any], *, newest_first: bool) -> Select[Any]:
    return query.order_by(*(each.desc() if newest_first else each for each in _PLACE))


def _chosen(tx: Transaction, query: MetadataQuery) -> Select[Any]:
    """By what has a column; conditions are left."""
    chosen = _between(rows_of(tx.org_id), query.since, query.until)
    if not query.every_version:
        chosen = chosen.where(_table.is_newest)
    if query.kinds:
        chosen = chosen.where(_table.kind.in_(query.kinds))
    if query.targets:
        chosen = chosen.where(_table.target_hash.in_(map(target_hash, query.targets)))
    if query.namespaces:
        chosen = chosen.where(_table.namespace.in_(query.namespaces))
    return _in_order(chosen, newest_first=query.newest_first)


_Place = tuple[datetime, str, int]


def _matching(
    tx: Transaction, query: MetadataQuery, after: _Place | None
) -> Iterator[tuple[Read, MetadataRecord]]:
    """In order, read in chunks."""
    chosen = _chosen(tx, query)
    size = max(_CHUNK, query.page_size + 1) if query.where else query.page_size + 1
    while True:
        part = chosen if after is None else chosen.where(_beyond(after, query.newest_first))
        rows = [read_of(row) for row in tx.execute(part.limit(size))]
        for row in rows:
            data = row.data
            if all(condition.holds(data) for condition in query.where):
                yield row, row.record(data)
        if len(rows) < size:
            return
        last = rows[-1]
        after = (last.produced_at, last.record_id, last.version)


def _beyond(place: _Place, newest_first: bool) -> Any:
    return tuple_(*_PLACE) < place if newest_first else tuple_(*_PLACE) > place


def _token(asked: str, last: Read) -> str:
    return written(asked, format_instant(last.produced_at), last.record_id, last.version)


def _after(asked: str, token: str) -> _Place:
    produced_at, record_id, version = place_in(asked, token, str, str, int)
    try:
        return datetime.fromisoformat(produced_at).astimezone(UTC), record_id, version
    except ValueError:
        raise UnknownCursor(cursor=token[:100]) from None

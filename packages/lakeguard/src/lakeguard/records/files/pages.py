"""Answers to queries: rows of several series in one order, page by page."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator
from itertools import islice

from lakeguard.records.cursors import question
from lakeguard.records.files.index import RecordIndex
from lakeguard.records.files.log import RecordLog, line_at
from lakeguard.records.files.series import OrderKey, Row, micros_of
from lakeguard_sdk.errors import UnknownCursor
from lakeguard_sdk.records.query import MetadataQuery, RecordPage
from lakeguard_sdk.records.record import MetadataRecord

_MOST_AT_ONCE = 20_000
"""Rows that are chosen before they are read."""
_TOKEN = re.compile(r"([0-9a-f]{16})\.(-?[0-9]{1,18})\.([0-9a-f]{16})\.([0-9]{1,16})", re.ASCII)


def read_page(log: RecordLog, index: RecordIndex, query: MetadataQuery) -> RecordPage:
    """The next page of an answer. It begins after the last record of the page before, whatever was
    stored since."""
    found: list[tuple[OrderKey, MetadataRecord]] = []
    for row in _rows(index, query):
        record = read_record(log, row.place)
        if not query.matches(record):
            continue
        if len(found) == query.page_size:
            token = _token(query, found[-1][0])
            return RecordPage(records=tuple(each for _, each in found), next_page=token)
        found.append((row.key, record))
    return RecordPage(records=tuple(each for _, each in found))


def read_record(log: RecordLog, place: int) -> MetadataRecord:
    return MetadataRecord.model_validate(line_at(log, place).record)


def _rows(index: RecordIndex, query: MetadataQuery) -> Iterator[Row]:
    """In order. The index is free while the rows of a part are read: an answer that looks at many
    holds up nobody who stores."""
    beyond = _key(query) if query.page_token else None
    size = query.page_size + 1
    while True:
        with index.lock:
            part = list(islice(_rows_beyond(index, query, beyond), size))
        yield from part
        if len(part) < size:
            return
        beyond = part[-1].key
        size = min(size * 4, _MOST_AT_ONCE)


def _rows_beyond(
    index: RecordIndex, query: MetadataQuery, beyond: OrderKey | None
) -> Iterator[Row]:
    each = [
        series.rows(
            since=None if query.since is None else micros_of(query.since),
            until=None if query.until is None else micros_of(query.until),
            beyond=beyond,
            newest_first=query.newest_first,
            every_version=query.every_version,
        )
        for series in index.chosen(query)
    ]
    return heapq.merge(*each, key=_sort_key, reverse=query.newest_first)


def _sort_key(row: Row) -> OrderKey:
    return row.key


def _token(query: MetadataQuery, key: OrderKey) -> str:
    return f"{_fingerprint(query)}.{key.micros}.{key.short_id:016x}.{key.version}"


def _key(query: MetadataQuery) -> OrderKey:
    given = _TOKEN.fullmatch(query.page_token)
    if given is None or given[1] != _fingerprint(query):
        raise UnknownCursor(cursor=query.page_token)
    return OrderKey(int(given[2]), int(given[3], 16), int(given[4]))


def _fingerprint(query: MetadataQuery) -> str:
    """Equal for all pages of one query."""
    return question(query).removeprefix("sha256:")[:16]

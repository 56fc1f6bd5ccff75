"""Writes rows with the values that were given for them.

A given value replaces ours only if the rows still mean the same: they are read again, and where
the definition would be another one, our own values are written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from lakeguard.registry.given_values.record_values import REPLACED_WHOLE
from lakeguard.registry.kinds import Key, every, gathered, hash_of, key_of
from lakeguard.registry.rows.assemble import assemble
from lakeguard.registry.rows.row import Row
from lakeguard.registry.rows.source_text import SourceText, Span
from lakeguard.registry.rows.tables import TABLES
from lakeguard.registry.rows.write_rows import Written, WrittenRow, by_table, written_rows
from lakeguard.registry.text.problems import Findings
from lakeguard_sdk.model.definitions import Definition, Definitions
from lakeguard_sdk.model.given_values import GivenValue, GivenValues

_NONE = Definitions()
_SPAN = Span(0, 1)
_Meaning = Mapping[Key, str]
"""The hash of each definition that rows come to; empty for one with an error."""


def restored_rows(
    definitions: Definitions,
    dataset_ids: Mapping[str, str] = MappingProxyType({}),
    given: GivenValues = MappingProxyType({}),
) -> dict[str, list[Written]]:
    """Every loadable table with its rows, as they were given where that means the same."""
    ours: Sequence[WrittenRow] = list(written_rows(definitions, dataset_ids))
    rows, values = ours, _filled(given)
    if values:
        rows = _restored(ours, values)
        known = {key_of(item): item for item in every(definitions)}
        if _meaning(rows) != {key: hash_of(item) for key, item in known.items()}:
            rows = _corrected(ours, values, known)
    return by_table(rows)


def _corrected(
    ours: Sequence[WrittenRow], values: GivenValues, known: Mapping[Key, Definition]
) -> Sequence[WrittenRow]:
    """The rows with as many given values as leave the meaning of ours."""
    meaning, attempts = _meaning(ours), Counter[Key]()
    while values:
        rows = _restored(ours, values)
        read = _meaning(rows)
        wrong = [key for key in meaning if read.get(key) != meaning[key]]
        if not wrong:
            return rows
        blamed = [key for key in wrong if key in values]
        fewer = dict(values)
        for key in blamed or values:
            # What is wrong without given values of its own refers to others by their ids.
            attempt = attempts[key] if blamed else max(1, attempts[key])
            own = [row for row in ours if row.definition == key]
            fewer[key] = _fewer(own, values[key], attempt, known)
            attempts[key] = attempt + 1
        values = _filled(fewer)
    return ours


def _filled(given: GivenValues) -> dict[Key, tuple[GivenValue, ...]]:
    return {key: values for key, values in given.items() if values}


def _fewer(
    ours: Sequence[WrittenRow],
    values: Sequence[GivenValue],
    attempt: int,
    known: Mapping[Key, Definition],
) -> tuple[GivenValue, ...]:
    """Without values that change the definition; next time without ids, then without any."""
    match attempt:
        case 0:
            return _trimmed(ours, values, known)
        case 1:
            return tuple(value for value in values if not value.column.endswith("_id"))
        case _:
            return ()


def _trimmed(
    ours: Sequence[WrittenRow], values: Sequence[GivenValue], known: Mapping[Key, Definition]
) -> tuple[GivenValue, ...]:
    """The values of one definition without those that change its meaning."""
    key = ours[0].definition
    others = gathered(item for other, item in known.items() if other != key)
    meaning = _meaning(ours, others).get(key)
    stays: tuple[GivenValue, ...] = ()

    def means_the_same(*more: GivenValue) -> bool:
        return _meaning(_restored(ours, {key: (*stays, *more)}), others).get(key) == meaning

    for group in _groups(values):
        if means_the_same(*group):
            stays += group
        elif group[0].table in REPLACED_WHOLE:
            for value in group:
                stays += (value,) if means_the_same(value) else ()
    return stays


def _groups(values: Iterable[GivenValue]) -> Iterator[tuple[GivenValue, ...]]:
    """The values of one column, or of one row that is read as a whole."""
    groups: dict[tuple[str, str | tuple[str, ...]], list[GivenValue]] = {}
    for value in values:
        part = value.member if value.table in REPLACED_WHOLE else value.column
        groups.setdefault((value.table, part), []).append(value)
    yield from map(tuple, groups.values())


def _restored(rows: Iterable[WrittenRow], values: GivenValues) -> list[WrittenRow]:
    """The rows with given values where ours are still those that they stand for."""
    given: dict[tuple[Key, str, tuple[str, ...]], list[GivenValue]] = {}
    for key, items in values.items():
        for item in items:
            given.setdefault((key, item.table, item.member), []).append(item)
    found = []
    for row in rows:
        own, known = given.get(row[:3], ()), row.known
        standing = {item.column: item.given for item in own if known.get(item.column) == item.ours}
        found.append(row._replace(values={**row.values, **standing}) if standing else row)
    return found


def _meaning(rows: Iterable[WrittenRow], registered: Definitions = _NONE) -> _Meaning:
    sources: dict[Key, SourceText] = {}
    for row in rows:
        sources.setdefault(row.definition, SourceText(str(len(sources)), "-", "CSV"))
    findings = Findings()
    written = (_row(row, sources[row.definition]) for row in rows if row.values)
    found = assemble(written, registered, findings)
    files = {error.place.file for error in findings.errors()}
    failed = {key: "" for key, source in sources.items() if source.file in files}
    return {**{key_of(item): hash_of(item) for item in every(found)}, **failed}


def _row(row: WrittenRow, source: SourceText) -> Row:
    """The row as it is read from a CSV file."""
    values = {column: row.text(column) for column in TABLES[row.table]}
    spans = [_SPAN] * len(values)
    return Row(row.table, values, source, _SPAN, spans, spans)

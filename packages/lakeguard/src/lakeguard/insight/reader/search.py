"""Finds datasets by words, and by owner, domain, layer, tag and column."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, case, select

from lakeguard.state.schema import dataset_search
from lakeguard.state.search_index import (
    by_code,
    contains,
    filter_line,
    folded,
    has_words,
    words_of,
)
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import Layer
from lakeguard_sdk.model.read_models import FoundDataset, Match, MatchedField

MOST_WORDS = 20
_SHORT = 100
_entry = dataset_search.c


@dataclass(frozen=True)
class SearchFilter:
    """Empty fields match everything."""

    owner: str = ""
    domain: str = ""
    tag: str = ""
    column: str = ""
    layer: Layer | None = None


def search_datasets(
    tx: Transaction,
    text: str,
    wanted: SearchFilter,
    limit: int,
    among: Collection[str] | None = None,
) -> list[FoundDataset]:
    """Datasets with every word, or with words that begin with it. The exact name comes first, then
    names with the words, then all others, by name. ``among`` restricts the search to names."""
    words = list(dict.fromkeys(words_of(text)))[:MOST_WORDS]
    if not words and text.strip():
        return []  # punctuation only
    database, most = tx.dialect.name, max(0, limit)
    conditions = [_entry.org_id == tx.org_id, *_conditions(database, wanted)]
    if words:
        conditions.append(has_words(database, words))
    order = (*_ranking(text, words), by_code(database, _entry.dataset_name))
    if among is not None:  # select by name first, to read only rows that are shown
        names = tx.scalars(select(_entry.dataset_name).where(*conditions).order_by(*order))
        shown = list(islice((name for name in names if name in among), most))
        conditions.append(_entry.dataset_name.in_(shown))
    rows = tx.execute(select(dataset_search).where(*conditions).order_by(*order).limit(most))
    return [_found(row, words, wanted) for row in rows]


def _conditions(database: str, wanted: SearchFilter) -> Iterator[ColumnElement[bool]]:
    for kind in ("owner", "domain", "tag", "column"):
        if value := getattr(wanted, kind):
            yield contains(database, _entry.filters, filter_line(kind, value))
    if wanted.layer is not None:
        yield _entry.layer == wanted.layer.value


def _ranking(text: str, words: Sequence[str]) -> Iterator[ColumnElement[Any]]:
    if not words:
        return
    exact, last = text.strip().lower(), " ".join(words)
    named = and_(*(_entry.name_words.like(f"%{word}%") for word in words))
    yield case(
        (_entry.dataset_name == exact, 0),
        (_entry.name_words == last, 1),
        (_entry.name_words.like(f"% {last}"), 2),
        (named, 3),
        else_=4,
    )


def _found(row: Row[Any], words: Sequence[str], wanted: SearchFilter) -> FoundDataset:
    matches = (match for word in words for match in _matches(row, word))
    filtered = _filtered(row, wanted)
    return FoundDataset(
        dataset_id=row.dataset_id,
        dataset=row.dataset_name,
        layer=row.layer,
        domain=row.domain,
        owner=row.owner,
        active=row.active,
        description=row.description,
        matched=tuple(dict.fromkeys((*matches, *filtered))),
    )


def _matches(row: Row[Any], word: str) -> Iterator[Match]:
    """The values with a word that begins with this one."""
    for field, values in _values(row):
        for value in values:
            if any(each.startswith(word) for each in _known_words(value)):
                yield Match(field=field, value=value)


def _known_words(value: str) -> Sequence[str]:
    """Short values, such as column names, recur in many entries, so their words are cached."""
    return _short_words(value) if len(value) <= _SHORT else words_of(value)


@lru_cache(maxsize=20_000)
def _short_words(value: str) -> Sequence[str]:
    return tuple(words_of(value))


def _values(row: Row[Any]) -> Iterator[tuple[MatchedField, Sequence[str]]]:
    fields = row._mapping
    yield MatchedField.NAME, (row.dataset_name,)
    yield MatchedField.OWNER, (row.owner,)
    yield MatchedField.DOMAIN, (row.domain,)
    yield MatchedField.TAG, row.tags.split()
    yield MatchedField.COLUMN, fields["columns"].strip("\n").split("\n")
    yield MatchedField.DESCRIPTION, (row.description,)


def _filtered(row: Row[Any], wanted: SearchFilter) -> Iterator[Match]:
    """The values that the filters matched, as written in the definition."""
    asked = {MatchedField.TAG: folded(wanted.tag), MatchedField.COLUMN: folded(wanted.column)}
    for field, values in _values(row):
        for value in values:
            if value and asked.get(field) == folded(value):
                yield Match(field=field, value=value)

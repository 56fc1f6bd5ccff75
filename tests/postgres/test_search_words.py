"""Both databases find the same datasets by the same words: those that a plain reading finds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeguard.insight.reader.search import SearchFilter, search_datasets
from lakeguard.registry.search_entries import write_search_entries
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.search_index import words_of
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.core.ids import new_uuid
from lakeguard_sdk.model.definitions import DatasetDefinition
from tests.support.databases.databases import KINDS, discard, migrated_database
from tests.support.examples import examples
from tests.support.projects.planes import numbers_definitions

WORDS = st.one_of(
    st.sampled_from(["flights", "flight", "Fl", "dep_delay", "AND", "not", "1e5", "007", "a1b2"]),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8),
)
TEXTS = st.lists(WORDS, max_size=4).map(" ".join)


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Database]]:
    made = [migrated_database(kind, tmp_path_factory.mktemp(kind)) for kind in KINDS]
    yield made
    for database in made:
        discard(database)


def described(texts: list[str]) -> dict[str, DatasetDefinition]:
    (like,) = numbers_definitions(LoadType.APPEND).datasets
    return {
        new_uuid(): like.model_copy(update={"description": text, "owner": f"o{number}"})
        for number, text in enumerate(texts)
    }


@examples(60)
@given(st.lists(TEXTS, min_size=1, max_size=6), TEXTS)
def test_both_databases_find_the_same(
    databases: list[Database], texts: list[str], asked: str
) -> None:
    org_id, entries = new_uuid(), described(texts)
    found = []
    for database in databases:
        with OrganisationState.of(database, org_id).write() as tx:
            write_search_entries(tx, entries)
            rows = search_datasets(tx, asked, SearchFilter(), 50)
        found.append({row.dataset_id for row in rows})
    assert found[0] == found[1] == set(plainly(entries, asked))


def test_a_search_has_no_end_of_its_own(databases: list[Database]) -> None:
    """Else a list that is read in pages ends early."""
    org_id, entries = new_uuid(), described(["found"] * 1_050)
    for database in databases:
        with OrganisationState.of(database, org_id).write() as tx:
            write_search_entries(tx, entries)
            assert len(search_datasets(tx, "found", SearchFilter(), 2_000)) == len(entries)


def plainly(entries: dict[str, DatasetDefinition], asked: str) -> Iterator[str]:
    words = words_of(asked)
    if not words and asked.strip():
        return
    for key, entry in entries.items():
        texts = (str(entry.dataset), entry.owner, entry.domain, entry.description, "n")
        there = words_of(" ".join(texts))
        if all(any(each.startswith(word) for each in there) for word in words):
            yield key

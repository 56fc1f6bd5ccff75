"""Maintains the search index, in the transaction that changes definitions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import select

from lakeguard.state.bulk_writes import in_pieces, insert_into
from lakeguard.state.schema import dataset_registry, dataset_search
from lakeguard.state.search_index import filter_line, joined_words
from lakeguard.state.tables.metadata import MUTABLE_COLUMNS
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.model.definitions import DatasetDefinition

_AT_ONCE = 500


def write_search_entries(tx: Transaction, datasets: Mapping[str, DatasetDefinition]) -> None:
    """Replaces the entries of these datasets, given by id."""
    rows = [entry_of(tx.org_id, key, definition) for key, definition in datasets.items()]
    changing = MUTABLE_COLUMNS[dataset_search.name]
    for some in in_pieces(rows, _AT_ONCE):
        new = insert_into(tx, dataset_search)
        statement = new.on_conflict_do_update(
            index_elements=["dataset_id"], set_={name: new.excluded[name] for name in changing}
        )
        tx.execute(statement, list(some))


def rewrite_search_entries(tx: Transaction) -> None:
    """Rebuilds the entries of all datasets of the organisation from the registry."""
    view = dataset_registry.c
    rows = tx.execute(select(view.dataset_id, view.definition).where(view.org_id == tx.org_id))
    found = {key: DatasetDefinition.from_json(text) for key, text in rows}
    write_search_entries(tx, found)


def entry_of(org_id: str, dataset_id: str, definition: DatasetDefinition) -> dict[str, Any]:
    names = [column.name for column in definition.columns]
    tags = sorted({tag for column in definition.columns for tag in column.tags})
    name = str(definition.dataset)
    others = (definition.owner, definition.domain, definition.description, *tags, *names)
    return {
        "org_id": org_id,
        "dataset_id": dataset_id,
        "dataset_name": name,
        "layer": definition.dataset.layer.value,
        "domain": definition.domain,
        "owner": definition.owner,
        "active": definition.active,
        "description": definition.description,
        "tags": _listed(tags),
        "columns": _listed(names),
        "name_words": joined_words([name]),
        "words": joined_words([name, *others]),
        "filters": _filters(definition.owner, definition.domain, tags, names),
    }


def _filters(owner: str, domain: str, tags: Iterable[str], columns: Iterable[str]) -> str:
    """As ``filter_line`` writes them."""
    given = {"owner": (owner,), "domain": (domain,), "tag": tags, "column": columns}
    return "".join(filter_line(kind, value) for kind in given for value in given[kind])


def _listed(names: Iterable[str]) -> str:
    """Each name between line breaks, which no name contains, so that whole names can be matched."""
    text = "\n".join(names)
    return f"\n{text}\n" if text else ""

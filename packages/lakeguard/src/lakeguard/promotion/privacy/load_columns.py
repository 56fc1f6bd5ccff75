"""Columns that a load writes, and the declared columns that they are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lakeguard.registry.store import definitions_since
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.model.definitions import DatasetDefinition
from lakeguard_sdk.model.load import KEY_HASH, ROW_HASH, load_column_sources, load_columns

LoadSources = Mapping[str, frozenset[str]]
"""Declared columns by column of the load, in lower case."""


def load_sources(
    tx: Transaction, definition: DatasetDefinition, dataset_id: str | None
) -> LoadSources:
    """By the definition and all earlier ones of the dataset: a load keeps rows that were written
    when it had another effective column."""
    found: dict[str, frozenset[str]] = {
        item.name: frozenset() for item in load_columns(definition.load)
    }
    earlier = definitions_since(tx, dataset_id, 0) if found and dataset_id is not None else ()
    for each in (definition, *earlier):
        for name, sources in load_column_sources(each.load, each.declared.names).items():
            if name in found:
                found[name] |= set(map(str.casefold, sources))
    return found


def digests_in(column: str) -> frozenset[str]:
    """Functions that every value of the column passed through."""
    return frozenset({"sha2"}) if column in (KEY_HASH, ROW_HASH) else frozenset()


def with_load_columns(definition: DatasetDefinition, names: Iterable[str]) -> set[str]:
    """These columns, and those that the load makes of them."""
    found = set(names)
    folded = {name.casefold() for name in found}
    sources = load_column_sources(definition.load, definition.declared.names)
    made = {name for name, each in sources.items() if folded & set(map(str.casefold, each))}
    return found | made

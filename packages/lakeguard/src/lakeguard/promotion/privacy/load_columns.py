"""Columns that a load writes, and the declared columns that they are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lakeguard.registry.store import definitions_since
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.model.definitions import DatasetDefinition
from lakeguard_sdk.model.load import (
    KEY_HASH,
    ROW_HASH,
    VALID_FROM,
    VALID_TO,
    load_column_sources,
    load_columns,
)

LoadSources = Mapping[str, frozenset[str]]
"""Declared source columns, by column that a load writes or has written; in lower case."""
_HASHES = (KEY_HASH, ROW_HASH)
_MADE = frozenset({*_HASHES, VALID_FROM, VALID_TO})


def load_sources(
    tx: Transaction, definition: DatasetDefinition, dataset_id: str | None
) -> LoadSources:
    """By the definition and all earlier ones of the dataset: a load keeps rows that were written
    when it had another effective column, or when a load wrote what is now a declared column."""
    found: dict[str, frozenset[str]] = {
        item.name: frozenset() for item in load_columns(definition.load)
    }
    declared = {name.casefold() for name in definition.declared.names} & _MADE
    earlier: tuple[DatasetDefinition, ...] = ()
    if dataset_id is not None and (found or declared):
        earlier = definitions_since(tx, dataset_id, 0)
    for each in (definition, *earlier):
        for name, sources in load_column_sources(each.load, each.declared.names).items():
            if name in found or name in declared:
                found[name] = found.get(name, frozenset()) | set(map(str.casefold, sources))
    return found


def digests_in(column: str) -> frozenset[str]:
    """Functions that a load applies to every value that it writes into the column."""
    return frozenset({"sha2"}) if column in _HASHES else frozenset()


def with_load_columns(definition: DatasetDefinition, names: Iterable[str]) -> set[str]:
    """These columns, and those that the load makes of them."""
    found = set(names)
    folded = {name.casefold() for name in found}
    sources = load_column_sources(definition.load, definition.declared.names)
    made = {name for name, each in sources.items() if folded & set(map(str.casefold, each))}
    return found | made

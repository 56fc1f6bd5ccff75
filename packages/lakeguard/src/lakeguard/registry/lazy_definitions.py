"""Loads a registry snapshot from the State; definitions are read on demand."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select

from lakeguard.registry import queries
from lakeguard.registry.kinds import KINDS, Key
from lakeguard.registry.snapshot import (
    Entry,
    Opened,
    RegistryState,
    entry_of,
    reference_text,
)
from lakeguard.state.bulk_writes import in_pieces
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.model.definitions import (
    CatalogueRule,
    Definition,
    PolicyDefinition,
    ProfileDefinition,
)

_NOUNS = {kind.word: kind.noun for kind in KINDS}


def read_state(tx: Transaction) -> RegistryState:
    """The current registry; definitions can be read while the transaction is open."""
    entries: list[Entry] = []
    for kind in queries.STORED_AS_JSON:
        entries += [
            Entry(kind, row.name, row.key, row.revision, row.definition_hash)
            for row in tx.execute(queries.entries(kind, tx.org_id))
        ]
    loaded = dict(_stored_in_columns(tx))
    library = StateDefinitions(
        tx, {(entry.kind, entry.name): item for entry, item in loaded.items()}
    )
    return RegistryState([*entries, *loaded], library)


@dataclass(frozen=True)
class StateDefinitions:
    """Definitions read in one transaction on the State."""

    tx: Transaction
    loaded: Mapping[Key, Opened]
    """Definitions of kinds stored in columns, already loaded."""

    def open(self, entries: Collection[Entry]) -> Mapping[Key, Opened]:
        found: dict[Key, Opened] = {}
        wanted: dict[str, list[str]] = {}
        for entry in entries:
            key = (entry.kind, entry.name)
            if key in self.loaded:
                found[key] = self.loaded[key]
            else:
                wanted.setdefault(entry.kind, []).append(entry.key)
        for kind, keys in wanted.items():
            found.update(self._read(kind, keys))
        return found

    def _read(self, kind: str, keys: list[str]) -> Iterator[tuple[Key, Opened]]:
        noun: Any = _NOUNS[kind]
        for piece in in_pieces(keys):
            query = queries.definitions_of(kind, self.tx.org_id, piece)
            for row in self.tx.execute(query):
                yield (kind, row.name), Opened(noun.from_json(row.definition), row.location)

    def former_names(self) -> Mapping[str, str]:
        rows = self.tx.execute(queries.former_names(self.tx.org_id))
        return {row.dataset_name: row.dataset_id for row in rows}

    def locations(self) -> Mapping[str, str]:
        rows = self.tx.execute(queries.locations(self.tx.org_id))
        return {row.location: row.dataset_name for row in rows}

    def naming(self, text: str) -> Collection[Key]:
        return [
            (kind, name)
            for kind in ("dataset", "job")
            for name in self.tx.scalars(queries.holding(kind, self.tx.org_id, text))
        ]

    def referring(self, dataset: str) -> Collection[Key]:
        query = queries.containing("dataset", self.tx.org_id, reference_text(dataset))
        return [("dataset", name) for name in self.tx.scalars(query)]

    def external_ids(self, kind: str) -> Mapping[str, str]:
        if kind not in queries.STORED_AS_JSON:
            loaded = {
                name: item.definition
                for (found, name), item in self.loaded.items()
                if found == kind
            }
            named = {getattr(item, "external_id", ""): name for name, item in loaded.items()}
            return {external: name for external, name in named.items() if external}
        dialect = self.tx.dialect.name
        rows = self.tx.execute(queries.external_ids(kind, self.tx.org_id, dialect))
        return {row.external_id: row.name for row in rows}


def profile_from(row: queries.AnyRow) -> ProfileDefinition:
    return ProfileDefinition(
        profile=row.profile_name,
        allow_column_drop=row.allow_column_drop,
        allow_type_widen=row.allow_type_widen,
        allow_type_narrow=row.allow_type_narrow,
        allow_nullable_change=row.allow_nullable_change,
        auto_add_columns=row.auto_add_columns,
        reactions=json.loads(row.reactions or "{}"),
        description=row.description,
        active=row.active,
    )


def catalogue_rule_from(row: queries.AnyRow) -> CatalogueRule:
    return CatalogueRule(
        rule=row.rule_name,
        expression=row.rule_expression,
        severity=row.severity,
        description=row.description,
        active=row.active,
    )


def policy_from(row: queries.AnyRow) -> PolicyDefinition:
    return PolicyDefinition(
        policy=row.policy_id,
        applies_to_layer=row.applies_to_layer or None,
        applies_to_domain=row.applies_to_domain or "",
        applies_to_tag=row.applies_to_tag or "",
        type=row.policy_type,
        expression=row.policy_expression,
        enforcement=row.enforcement,
        active=row.active,
        external_id=row.external_id or "",
    )


_STORED_IN_COLUMNS: tuple[
    tuple[Callable[[str], Select[Any]], Callable[[queries.AnyRow], Definition]], ...
] = (
    (queries.current_profiles, profile_from),
    (queries.current_catalogue, catalogue_rule_from),
    (queries.current_policies, policy_from),
)
"""Kinds stored in columns instead of JSON; their key is their name."""


def _stored_in_columns(tx: Transaction) -> Iterator[tuple[Entry, Opened]]:
    for query, noun_from in _STORED_IN_COLUMNS:
        for row in tx.execute(query(tx.org_id)):
            definition = noun_from(row)
            name: str = getattr(definition, definition.kind)
            yield entry_of(definition, name, row.revision), Opened(definition)

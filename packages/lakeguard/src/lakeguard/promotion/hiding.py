"""Columns of rows that were written before: what has hidden them since, and what does today."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection

from lakeguard.promotion.heart import PinnedRules
from lakeguard.promotion.privacy import private_in
from lakeguard.promotion.travelling import possible_tags
from lakeguard.registry.store import (
    RegisteredDataset,
    current_policies,
    current_target,
    definitions_since,
)
from lakeguard_sdk.definition import DatasetDefinition
from lakeguard_sdk.evidence import InputVersion


def hidden_since(
    connection: Connection,
    org_id: str,
    dataset: RegisteredDataset,
    revision: int | None,
    read: Iterable[InputVersion] = (),
) -> frozenset[str]:
    """Columns that carried a tag in any revision from this one on, or that a PII policy of today
    is about; a column that left the definition is as it was when it left. None is the first."""
    told = definitions_since(connection, dataset.dataset_id, revision or 0)
    policies, read = current_policies(connection, org_id), tuple(read)
    alone = PinnedRules(rules=(), policies=policies, tags={})
    found: set[str] = set()
    for definition in told:
        found |= {column.name for column in definition.columns if column.tags}
        found |= set(private_in(definition, policies, alone, ()))
    for definition in _last_of_each_column(told):
        transformed = is_transformed(connection, org_id, definition)
        possible = possible_tags(connection, org_id, definition, read, transformed=transformed)
        found |= {item.column for item in possible}
    return frozenset(found)


def is_transformed(connection: Connection, org_id: str, definition: DatasetDefinition) -> bool:
    target = current_target(connection, org_id, definition.target or "")
    return target is not None and bool(target.transform)


def _last_of_each_column(told: Iterable[DatasetDefinition]) -> list[DatasetDefinition]:
    """The fewest definitions, the newest first, that together have every column."""
    seen: set[str] = set()
    last: list[DatasetDefinition] = []
    for definition in reversed(tuple(told)):
        names = {column.name.casefold() for column in definition.columns}
        if not last or names - seen:
            last.append(definition)
        seen |= names
    return last

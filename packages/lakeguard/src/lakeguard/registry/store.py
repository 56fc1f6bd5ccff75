"""Reads registered definitions, in the caller's transaction."""

from __future__ import annotations

from datetime import datetime

from lakeguard.registry import queries
from lakeguard.registry.lazy_definitions import (
    catalogue_rule_from,
    policy_from,
    profile_from,
    read_state,
)
from lakeguard.registry.snapshot import RegisteredDataset, RegisteredSource
from lakeguard.state import locks
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.errors import NotRegistered
from lakeguard_sdk.model.definitions import (
    CatalogueRule,
    DatasetDefinition,
    JobDefinition,
    PolicyDefinition,
    ProfileDefinition,
    SourceDefinition,
    TargetDefinition,
)

__all__ = [
    "RegisteredDataset",
    "RegisteredSource",
    "current_catalogue",
    "current_definition",
    "current_policies",
    "current_profiles",
    "current_source",
    "current_target",
    "dataset_by_id",
    "dataset_names",
    "definition_at",
    "definition_in_force",
    "definitions_since",
    "hold_registry",
    "job_id_of_dataset",
    "job_name",
    "job_of_dataset",
    "read_state",
    "require_dataset",
]


def current_definition(tx: Transaction, name: DatasetName) -> RegisteredDataset | None:
    row = tx.execute(queries.current_dataset(tx.org_id, name)).first()
    return None if row is None else _dataset(row)


def require_dataset(tx: Transaction, name: DatasetName) -> RegisteredDataset:
    """The latest revision of a dataset; NotRegistered, with the nearest name, if missing."""
    found = current_definition(tx, name)
    if found is None:
        raise NotRegistered(dataset=name, hint=did_you_mean(name, dataset_names(tx)))
    return found


def dataset_names(tx: Transaction) -> list[DatasetName]:
    return [DatasetName(name) for name in tx.scalars(queries.dataset_names(tx.org_id))]


def dataset_by_id(tx: Transaction, dataset_id: str) -> RegisteredDataset:
    row = tx.execute(queries.dataset_with_id(tx.org_id, dataset_id)).first()
    if row is None:
        raise NotRegistered(dataset=dataset_id)
    return _dataset(row)


def definition_at(tx: Transaction, dataset_id: str, revision: int) -> DatasetDefinition:
    """The definition of one revision of a dataset."""
    text = tx.scalar(queries.dataset_revision(dataset_id, revision))
    if text is None:
        raise NotRegistered(dataset=f"{dataset_id}, revision {revision}")
    return DatasetDefinition.from_json(text)


def definitions_since(
    tx: Transaction, dataset_id: str, revision: int
) -> tuple[DatasetDefinition, ...]:
    """The definitions from one revision on, oldest first."""
    texts = tx.scalars(queries.revisions_since(dataset_id, revision))
    return tuple(map(DatasetDefinition.from_json, texts))


def definition_in_force(tx: Transaction, dataset_id: str, at: datetime) -> DatasetDefinition | None:
    """The definition in force at a time; None before the first revision."""
    text = tx.scalar(queries.revision_in_force(dataset_id, at))
    return None if text is None else DatasetDefinition.from_json(text)


def current_source(tx: Transaction, name: str) -> RegisteredSource | None:
    row = tx.execute(queries.current_source(tx.org_id, name)).first()
    return None if row is None else _source(row)


def current_target(tx: Transaction, name: str) -> TargetDefinition | None:
    text = tx.scalar(queries.current_target(tx.org_id, name))
    return None if text is None else TargetDefinition.from_json(text)


def current_targets(tx: Transaction) -> dict[str, TargetDefinition]:
    """All targets, by name."""
    found = map(TargetDefinition.from_json, tx.scalars(queries.current_targets(tx.org_id)))
    return {target.target: target for target in found}


def job_of_dataset(tx: Transaction, dataset: DatasetName) -> JobDefinition | None:
    row = tx.execute(queries.job_of_dataset(tx.org_id, dataset)).first()
    return None if row is None else JobDefinition.from_json(row.definition)


def job_id_of_dataset(tx: Transaction, dataset: DatasetName) -> str | None:
    row = tx.execute(queries.job_of_dataset(tx.org_id, dataset)).first()
    return None if row is None else str(row.job_id)


def job_name(tx: Transaction, job_id: str) -> str:
    """The name of a job, or of the dataset whose own job it is."""
    return str(tx.execute(queries.job_name(tx.org_id, job_id)).scalar_one())


def current_policies(tx: Transaction) -> tuple[PolicyDefinition, ...]:
    rows = tx.execute(queries.current_policies(tx.org_id))
    return tuple(policy_from(row) for row in rows)


def current_profiles(tx: Transaction) -> tuple[ProfileDefinition, ...]:
    rows = tx.execute(queries.current_profiles(tx.org_id))
    return tuple(profile_from(row) for row in rows)


def current_catalogue(tx: Transaction) -> tuple[CatalogueRule, ...]:
    rows = tx.execute(queries.current_catalogue(tx.org_id))
    return tuple(catalogue_rule_from(row) for row in rows)


def hold_registry(tx: Transaction) -> None:
    """Lock the registry against other changes until the transaction ends."""
    locks.hold(tx, f"registry:{tx.org_id}")


def _dataset(row: queries.AnyRow) -> RegisteredDataset:
    return RegisteredDataset(
        dataset_id=row.dataset_id,
        revision=row.revision,
        layer=row.layer,
        location=row.location,
        active=row.active,
        definition_hash=row.definition_hash,
        definition=DatasetDefinition.from_json(row.definition),
    )


def _source(row: queries.AnyRow) -> RegisteredSource:
    return RegisteredSource(
        source_id=row.source_system_id,
        revision=row.revision,
        definition_hash=row.definition_hash,
        definition=SourceDefinition.from_json(row.definition),
    )

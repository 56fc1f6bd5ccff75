"""Every SQL statement of the registry, named, with the sentence it answers."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row, Select, func, select

from lakeguard.state.tables import md_jobs, md_tgt_ctrl, registry_applies
from lakeguard.state.views import dataset_registry, policy_rules, source_systems

AnyRow = Row[Any]


def current_datasets(org_id: str) -> Select[Any]:
    """The latest revision of every dataset, by name."""
    view = dataset_registry.c
    return (
        select(
            view.dataset_id,
            view.revision,
            view.layer,
            view.location,
            view.active,
            view.definition_hash,
            view.definition,
        )
        .where(view.org_id == org_id)
        .order_by(view.dataset_name)
    )


def current_dataset(org_id: str, name: str) -> Select[Any]:
    """The latest revision of the dataset of this name."""
    return current_datasets(org_id).where(dataset_registry.c.dataset_name == name)


def dataset_with_id(org_id: str, dataset_id: str) -> Select[Any]:
    """The latest revision of the dataset with this id."""
    return current_datasets(org_id).where(dataset_registry.c.dataset_id == dataset_id)


def dataset_names(org_id: str) -> Select[Any]:
    """The names of all datasets."""
    return select(dataset_registry.c.dataset_name).where(dataset_registry.c.org_id == org_id)


def current_sources(org_id: str) -> Select[Any]:
    """The latest revision of every source, by name."""
    view = source_systems.c
    return (
        select(view.source_system_id, view.revision, view.definition_hash, view.definition)
        .where(view.org_id == org_id)
        .order_by(view.source_name)
    )


def current_source(org_id: str, name: str) -> Select[Any]:
    """The latest revision of the source of this name."""
    return current_sources(org_id).where(source_systems.c.source_name == name)


def current_target(org_id: str, name: str) -> Select[Any]:
    """The latest revision of the target of this name."""
    view = md_tgt_ctrl.c
    return select(view.definition).where(view.org_id == org_id, view.target_name == name)


def job_of_dataset(org_id: str, dataset: str) -> Select[Any]:
    """The latest revision of the job that builds a dataset, an active one first."""
    view = md_jobs.c
    chosen = select(view.job_id, view.definition).where(
        view.org_id == org_id, view.dataset_name == dataset
    )
    return chosen.order_by(view.status, view.job_name)


def current_policies(org_id: str) -> Select[Any]:
    """The latest revision of every policy, by id."""
    return (
        select(policy_rules)
        .where(policy_rules.c.org_id == org_id)
        .order_by(policy_rules.c.policy_id)
    )


def last_ordinal(org_id: str) -> Select[Any]:
    """How many applies there were."""
    return select(func.coalesce(func.max(registry_applies.c.ordinal), 0)).where(
        registry_applies.c.org_id == org_id
    )

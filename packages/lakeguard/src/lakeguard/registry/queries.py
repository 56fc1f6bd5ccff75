"""All SQL statements of the registry."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Column,
    ColumnClause,
    ColumnElement,
    Row,
    Select,
    Table,
    and_,
    func,
    literal,
    literal_column,
    select,
)

from lakeguard.state.json_sql import JsonSql
from lakeguard.state.schema import (
    dataset_registry_revisions,
    dq_rule_catalog,
    given_values,
    md_jobs,
    md_tgt_ctrl,
    registry_applies,
    schema_compatibility_rules,
)
from lakeguard.state.views.views import dataset_registry, policy_rules, source_systems
from lakeguard_sdk.core.enums import BUILD_JOB_TYPES

AnyRow = Row[Any]

STORED_AS_JSON: dict[str, tuple[Table, Column[Any], Column[Any]]] = {
    "source": (source_systems, source_systems.c.source_system_id, source_systems.c.source_name),
    "target": (md_tgt_ctrl, md_tgt_ctrl.c.target_id, md_tgt_ctrl.c.target_name),
    "dataset": (dataset_registry, dataset_registry.c.dataset_id, dataset_registry.c.dataset_name),
    "job": (md_jobs, md_jobs.c.job_id, md_jobs.c.job_name),
}
"""Kinds whose rows hold the definition as JSON: view, key and name."""


def _defined(view: Table, org_id: str) -> ColumnElement[bool]:
    """Rows that somebody defined: those that every organisation has are revision 0."""
    return and_(view.c.org_id == org_id, view.c.revision > 0)


def entries(kind: str, org_id: str) -> Select[Any]:
    """Key, name, revision and hash of all definitions of a kind."""
    view, key, name = STORED_AS_JSON[kind]
    return select(
        name.label("name"), key.label("key"), view.c.revision, view.c.definition_hash
    ).where(_defined(view, org_id))


def definitions_of(kind: str, org_id: str, keys: Collection[str]) -> Select[Any]:
    """Definitions of a kind by key; for datasets also the location."""
    view, key, name = STORED_AS_JSON[kind]
    location = view.c.location if kind == "dataset" else literal("")
    return select(name.label("name"), view.c.definition, location.label("location")).where(
        _defined(view, org_id), key.in_(keys)
    )


def holding(kind: str, org_id: str, text: str) -> Select[Any]:
    """Names of a kind whose definitions contain this text in quotes."""
    return containing(kind, org_id, f'"{text}"')


def containing(kind: str, org_id: str, text: str) -> Select[Any]:
    """Names of a kind whose definitions contain this text."""
    view, _, name = STORED_AS_JSON[kind]
    return select(name).where(_defined(view, org_id), view.c.definition.contains(text))


def external_ids(kind: str, org_id: str, dialect: str) -> Select[Any]:
    """Names and external ids of a kind."""
    view, _, name = STORED_AS_JSON[kind]
    json_text = JsonSql(dialect).text(f"{view.name}.definition", "external_id")
    external: ColumnClause[str] = literal_column(json_text)
    return select(name.label("name"), external.label("external_id")).where(
        _defined(view, org_id), external != ""
    )


def former_names(org_id: str) -> Select[Any]:
    """Former names of datasets."""
    before = dataset_registry_revisions.c
    return (
        select(before.dataset_name, before.dataset_id)
        .join(dataset_registry, dataset_registry.c.dataset_id == before.dataset_id)
        .where(before.org_id == org_id, before.dataset_name != dataset_registry.c.dataset_name)
        .distinct()
    )


def locations(org_id: str) -> Select[Any]:
    """Locations of all datasets."""
    view = dataset_registry.c
    return select(view.location, view.dataset_name).where(view.org_id == org_id)


def current_profiles(org_id: str) -> Select[Any]:
    """The latest revision of every schema profile that somebody defined."""
    view = schema_compatibility_rules
    return (
        select(view).where(view.c.org_id == org_id, ~view.c.built_in).order_by(view.c.profile_name)
    )


def current_catalogue(org_id: str) -> Select[Any]:
    """The latest revision of every catalogue rule that somebody defined."""
    view = dq_rule_catalog
    return select(view).where(view.c.org_id == org_id, ~view.c.built_in).order_by(view.c.rule_name)


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
    """The latest revision of the dataset with this name."""
    return current_datasets(org_id).where(dataset_registry.c.dataset_name == name)


def dataset_with_id(org_id: str, dataset_id: str) -> Select[Any]:
    """The latest revision of the dataset with this id."""
    return current_datasets(org_id).where(dataset_registry.c.dataset_id == dataset_id)


def datasets_of_targets(org_id: str, targets: Collection[str], dialect: str) -> Select[Any]:
    """The latest revisions of the datasets that use one of these targets, by name."""
    json_text = JsonSql(dialect).text(f"{dataset_registry.name}.definition", "target")
    named: ColumnClause[str] = literal_column(json_text)
    return current_datasets(org_id).where(named.in_(targets))


def dataset_revision(dataset_id: str, revision: int) -> Select[Any]:
    """The definition in one revision of a dataset."""
    row = dataset_registry_revisions.c
    return select(row.definition).where(row.dataset_id == dataset_id, row.revision == revision)


def revisions_since(dataset_id: str, revision: int) -> Select[Any]:
    """The definitions of a dataset from one revision on, in order."""
    row = dataset_registry_revisions.c
    known = select(row.definition).where(row.dataset_id == dataset_id, row.revision >= revision)
    return known.order_by(row.revision)


def revisions_of_apply(apply_id: str) -> Select[Any]:
    """Key and definition of every dataset that one apply registered or revised."""
    row = dataset_registry_revisions.c
    return select(row.dataset_id, row.definition).where(row.apply_id == apply_id)


def revision_in_force(dataset_id: str, at: datetime) -> Select[Any]:
    """The definition of a dataset at a point in time."""
    row = dataset_registry_revisions.c
    known = select(row.definition).where(row.dataset_id == dataset_id, row.revised_at <= at)
    return known.order_by(row.revision.desc()).limit(1)


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
    """The latest revision of the source with this name."""
    return current_sources(org_id).where(source_systems.c.source_name == name)


def current_target(org_id: str, name: str) -> Select[Any]:
    """The latest revision of the target with this name."""
    view = md_tgt_ctrl.c
    return select(view.definition).where(_defined(md_tgt_ctrl, org_id), view.target_name == name)


def current_targets(org_id: str) -> Select[Any]:
    """The latest revisions of all targets."""
    return select(md_tgt_ctrl.c.definition).where(_defined(md_tgt_ctrl, org_id))


def job_of_dataset(org_id: str, dataset: str) -> Select[Any]:
    """The latest revision of the job that builds a dataset, an active one first."""
    view = md_jobs.c
    chosen = select(view.job_id, view.definition).where(
        _defined(md_jobs, org_id),
        view.dataset_name == dataset,
        view.job_type.in_(BUILD_JOB_TYPES),
    )
    return chosen.order_by(view.status, view.job_name)


def job_name(org_id: str, job_id: str) -> Select[Any]:
    """The name of a job."""
    return select(md_jobs.c.job_name).where(md_jobs.c.org_id == org_id, md_jobs.c.job_id == job_id)


def current_policies(org_id: str) -> Select[Any]:
    """The latest revision of every policy, by id."""
    return (
        select(policy_rules)
        .where(policy_rules.c.org_id == org_id)
        .order_by(policy_rules.c.policy_id)
    )


def last_ordinal(org_id: str) -> Select[Any]:
    """The number of applies."""
    return select(func.coalesce(func.max(registry_applies.c.ordinal), 0)).where(
        registry_applies.c.org_id == org_id
    )


def current_given_values(org_id: str) -> Select[Any]:
    """The latest values of each definition as rows gave them."""
    table = given_values
    keys = (table.c.kind, table.c.definition_key)
    latest = (
        select(*keys, func.max(table.c.revision).label("revision"))
        .where(table.c.org_id == org_id)
        .group_by(*keys)
        .subquery()
    )
    return (
        select(table.c.kind, table.c.definition_key, table.c.revision, table.c.given)
        .join(latest, and_(*(table.c[column.name] == column for column in latest.c)))
        .where(table.c.org_id == org_id)
    )

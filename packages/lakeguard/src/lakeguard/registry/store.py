"""Reads registered definitions and applies plans.

All functions run in the caller's transaction, so an apply is atomic.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.exc import IntegrityError

from lakeguard.registry import queries
from lakeguard.registry.built_ins import record_built_ins
from lakeguard.registry.kinds import gathered
from lakeguard.registry.lazy_definitions import (
    catalogue_rule_from,
    policy_from,
    profile_from,
    read_state,
)
from lakeguard.registry.planning.plan import make_plan
from lakeguard.registry.planning.revisions import Revisions
from lakeguard.registry.snapshot import RegisteredDataset, RegisteredSource, RegistryState
from lakeguard.state import locks, outbox
from lakeguard.state.schema import registry_applies
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.errors import NotRegistered, PlanChanged, RegistryChanged
from lakeguard_sdk.model.definitions import (
    CatalogueRule,
    DatasetDefinition,
    JobDefinition,
    PolicyDefinition,
    ProfileDefinition,
    SourceDefinition,
    TargetDefinition,
)
from lakeguard_sdk.model.plan import (
    Applied,
    Plan,
    Register,
    Revise,
)

__all__ = [
    "RegisteredDataset",
    "RegisteredSource",
    "apply_plan",
    "current_catalogue",
    "current_definition",
    "current_policies",
    "current_profiles",
    "current_source",
    "current_target",
    "dataset_by_id",
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
        names = tx.execute(queries.dataset_names(tx.org_id)).scalars().all()
        raise NotRegistered(dataset=name, hint=did_you_mean(name, names))
    return found


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


def apply_plan(
    tx: Transaction,
    plan: Plan,
    actor: str,
    at: datetime,
    lake: str | None = None,
    reason: str | None = None,
    *,
    keep_drift: bool = True,
) -> Applied:
    """Write the revisions of the plan's steps. An empty plan writes nothing.

    Concurrent applies are serialized. RegistryChanged if the registry changed since the plan was
    made, and PlanChanged if the steps do not match their definitions: a plan loaded from a file
    is checked again completely.
    """
    hold_registry(tx)
    current = read_state(tx)
    if current.head != plan.registry_head or _superseded(plan, current):
        raise RegistryChanged(planned=plan.registry_head, now=current.head)
    if not plan.steps:
        return Applied(apply_id=None, steps=0, registry_head=current.head, applied_at=at)
    definitions = gathered(step.definition for step in plan.steps)
    if make_plan(definitions, current, lake, keep_drift=keep_drift) != plan:
        raise PlanChanged()
    apply_id = new_id("apl")
    revisions = Revisions(current, tx.org_id, actor, apply_id, at)
    for step in plan.steps:
        revisions.take(step)
    _record_apply(tx, plan, revisions, reason)
    record_built_ins(tx, apply_id, at)
    revisions.insert(tx)
    return Applied(
        apply_id=apply_id,
        steps=len(plan.steps),
        registry_head=revisions.head,
        applied_at=at,
        registered=_registered(plan),
    )


def _registered(plan: Plan) -> tuple[DatasetName, ...]:
    """The new datasets of the plan."""
    return tuple(
        step.definition.dataset
        for step in plan.steps
        if isinstance(step, Register) and isinstance(step.definition, DatasetDefinition)
    )


def _superseded(plan: Plan, current: RegistryState) -> bool:
    """Whether a step is based on an outdated revision. The head may still be equal, if the content
    was changed back."""
    known = {(entry.kind, entry.key): entry.revision for entry in current.entries.values()}
    return any(
        known.get((step.definition.kind, step.key)) != step.revision
        for step in plan.steps
        if isinstance(step, Revise)
    )


def _record_apply(tx: Transaction, plan: Plan, revisions: Revisions, reason: str | None) -> None:
    """One numbered row per apply; of two concurrent ones, only one gets the number."""
    last: int = tx.execute(queries.last_ordinal(revisions.org_id)).scalar_one()
    row = {
        "apply_id": revisions.apply_id,
        "org_id": revisions.org_id,
        "ordinal": last + 1,
        "registry_head": revisions.head,
        "steps": len(plan.steps),
        "plan_hash": plan.content_hash(),
        "applied_at": revisions.at,
        "applied_by": revisions.actor,
        "reason": reason,
    }
    try:
        outbox.record(tx, registry_applies, [row], revisions.at)
    except IntegrityError:
        raise RegistryChanged(planned=plan.registry_head, now="another apply") from None


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

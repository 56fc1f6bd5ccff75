"""The registry's rows: what is registered now, and the revisions that a plan adds.

Everything here works on a connection whose transaction the caller opened: an apply is whole
or it did not happen.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from lakeguard.registry import statements
from lakeguard.registry.current import (
    RegisteredDataset,
    RegisteredPolicy,
    RegisteredSource,
    RegistryState,
)
from lakeguard.registry.planning import definitions_of, make_plan
from lakeguard.registry.revisions import Revisions
from lakeguard.state import facts
from lakeguard.state.tables import registry_applies
from lakeguard_sdk.definition import (
    DatasetDefinition,
    JobDefinition,
    PolicyDefinition,
    SourceDefinition,
    TargetDefinition,
)
from lakeguard_sdk.errors import NotRegistered, PlanChanged, RegistryMoved
from lakeguard_sdk.ids import new_id
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.planning import (
    Applied,
    Plan,
    RegisterDataset,
    ReviseDataset,
    RevisePolicy,
    ReviseSource,
)
from lakeguard_sdk.spelling import did_you_mean

__all__ = [
    "RegisteredDataset",
    "RegisteredSource",
    "apply_plan",
    "current_definition",
    "current_policies",
    "current_source",
    "current_target",
    "dataset_by_id",
    "job_id_of_dataset",
    "job_of_dataset",
    "read_state",
    "require_dataset",
]


def read_state(connection: Connection, org_id: str) -> RegistryState:
    """Every current definition of an organisation."""
    return RegistryState(
        sources=tuple(
            _source(row) for row in connection.execute(statements.current_sources(org_id))
        ),
        datasets=tuple(
            _dataset(row) for row in connection.execute(statements.current_datasets(org_id))
        ),
        policies=tuple(
            _policy(row) for row in connection.execute(statements.current_policies(org_id))
        ),
    )


def current_definition(
    connection: Connection, org_id: str, name: DatasetName
) -> RegisteredDataset | None:
    row = connection.execute(statements.current_dataset(org_id, name)).first()
    return None if row is None else _dataset(row)


def require_dataset(connection: Connection, org_id: str, name: DatasetName) -> RegisteredDataset:
    """The dataset's latest revision; NotRegistered, with the nearest name, if there is none."""
    found = current_definition(connection, org_id, name)
    if found is None:
        names = connection.execute(statements.dataset_names(org_id)).scalars().all()
        raise NotRegistered(dataset=name, hint=did_you_mean(name, names))
    return found


def dataset_by_id(connection: Connection, org_id: str, dataset_id: str) -> RegisteredDataset:
    row = connection.execute(statements.dataset_with_id(org_id, dataset_id)).first()
    if row is None:
        raise NotRegistered(dataset=dataset_id)
    return _dataset(row)


def current_source(connection: Connection, org_id: str, name: str) -> RegisteredSource | None:
    row = connection.execute(statements.current_source(org_id, name)).first()
    return None if row is None else _source(row)


def current_target(connection: Connection, org_id: str, name: str) -> TargetDefinition | None:
    text = connection.scalar(statements.current_target(org_id, name))
    return None if text is None else TargetDefinition.from_json(text)


def job_of_dataset(
    connection: Connection, org_id: str, dataset: DatasetName
) -> JobDefinition | None:
    row = connection.execute(statements.job_of_dataset(org_id, dataset)).first()
    return None if row is None else JobDefinition.from_json(row.definition)


def job_id_of_dataset(connection: Connection, org_id: str, dataset: DatasetName) -> str | None:
    row = connection.execute(statements.job_of_dataset(org_id, dataset)).first()
    return None if row is None else str(row.job_id)


def current_policies(connection: Connection, org_id: str) -> tuple[PolicyDefinition, ...]:
    rows = connection.execute(statements.current_policies(org_id))
    return tuple(_policy(row).definition for row in rows)


def apply_plan(
    connection: Connection, plan: Plan, org_id: str, actor: str, at: datetime
) -> Applied:
    """Add the revisions that the plan's steps say. An empty plan writes nothing.

    RegistryMoved if the registry is not the one the plan was made against, and PlanChanged if
    the steps are not exactly what their definitions call for: a plan that was kept in a file
    is held to every invariant again.
    """
    current = read_state(connection, org_id)
    if current.head != plan.registry_head or _superseded(plan, current):
        raise RegistryMoved(planned=plan.registry_head, now=current.head)
    if not plan.steps:
        return Applied(apply_id=None, steps=0, registry_head=current.head, applied_at=at)
    if make_plan(definitions_of(plan), current) != plan:
        raise PlanChanged()
    apply_id = new_id("apl")
    revisions = Revisions(current, org_id, actor, apply_id, at)
    for step in plan.steps:
        revisions.take(step)
    _record_apply(connection, plan, revisions)
    revisions.insert(connection)
    return Applied(
        apply_id=apply_id,
        steps=len(plan.steps),
        registry_head=revisions.head,
        applied_at=at,
        registered=tuple(
            step.definition.dataset for step in plan.steps if isinstance(step, RegisterDataset)
        ),
    )


def _superseded(plan: Plan, current: RegistryState) -> bool:
    """Whether a revision that a step builds on is not the latest: it may have come back to
    the same content since."""
    known: dict[str, int] = {item.dataset_id: item.revision for item in current.datasets}
    known |= {item.source_id: item.revision for item in current.sources}
    known |= {item.definition.policy: item.revision for item in current.policies}
    for step in plan.steps:
        match step:
            case ReviseDataset(dataset_id=key) | ReviseSource(source_id=key):
                if known.get(key) != step.revision:
                    return True
            case RevisePolicy():
                if known.get(step.definition.policy) != step.revision:
                    return True
    return False


def _record_apply(connection: Connection, plan: Plan, revisions: Revisions) -> None:
    """One row per apply, numbered; of two at the same time, one gets the number."""
    last: int = connection.execute(statements.last_ordinal(revisions.org_id)).scalar_one()
    row = {
        "apply_id": revisions.apply_id,
        "org_id": revisions.org_id,
        "ordinal": last + 1,
        "registry_head": revisions.head,
        "steps": len(plan.steps),
        "plan_hash": plan.content_hash(),
        "applied_at": revisions.at,
        "applied_by": revisions.actor,
    }
    try:
        facts.record(connection, registry_applies, [row], revisions.at)
    except IntegrityError:
        raise RegistryMoved(planned=plan.registry_head, now="another apply") from None


def _dataset(row: statements.AnyRow) -> RegisteredDataset:
    return RegisteredDataset(
        dataset_id=row.dataset_id,
        revision=row.revision,
        layer=row.layer,
        location=row.location,
        active=row.active,
        definition_hash=row.definition_hash,
        definition=DatasetDefinition.from_json(row.definition),
    )


def _source(row: statements.AnyRow) -> RegisteredSource:
    return RegisteredSource(
        source_id=row.source_system_id,
        revision=row.revision,
        definition_hash=row.definition_hash,
        definition=SourceDefinition.from_json(row.definition),
    )


def _policy(row: statements.AnyRow) -> RegisteredPolicy:
    definition = PolicyDefinition(
        policy=row.policy_id,
        applies_to_layer=row.applies_to_layer,
        type=row.policy_type,
        expression=row.policy_expression,
        enforcement=row.enforcement,
        active=row.active,
    )
    return RegisteredPolicy(revision=row.revision, definition=definition)

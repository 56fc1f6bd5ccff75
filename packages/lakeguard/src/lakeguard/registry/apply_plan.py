"""Applies a plan to the registry, in the caller's transaction, so that an apply is atomic."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.exc import IntegrityError

from lakeguard.registry import queries
from lakeguard.registry.built_ins import record_built_ins
from lakeguard.registry.kinds import gathered
from lakeguard.registry.planning.plan import make_plan
from lakeguard.registry.planning.revisions import Revisions
from lakeguard.registry.search_entries import write_search_entries
from lakeguard.registry.snapshot import RegistryState
from lakeguard.registry.store import hold_registry, read_state
from lakeguard.state import outbox
from lakeguard.state.schema import registry_applies
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.errors import PlanChanged, RegistryChanged
from lakeguard_sdk.model.definitions import DatasetDefinition
from lakeguard_sdk.model.plan import (
    Applied,
    Plan,
    Register,
    Revise,
)


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
    write_search_entries(tx, revisions.datasets)
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

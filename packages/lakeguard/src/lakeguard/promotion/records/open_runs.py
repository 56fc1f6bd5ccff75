"""Open runs, and the rules that were pinned for them."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from lakeguard.dispatch import tasks
from lakeguard.dispatch.tasks import Task
from lakeguard.gate.schema.profiles import SchemaTerms
from lakeguard.gate.subject import Subject
from lakeguard.ledger.documents import get_document
from lakeguard.ledger.openings import opening_of, schema_verdict
from lakeguard.registry.store import RegisteredDataset, dataset_by_id
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import TaskKind
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.errors import NotApproved
from lakeguard_sdk.model.definitions import PolicyDefinition, RuleDefinition
from lakeguard_sdk.model.run import RunPlan, RunTicket, SchemaVerdict


class PinnedRules(FrozenModel):
    """Rules, policies and tags pinned when the run opened; later edits affect the next run.

    Columns accepted by the schema verdict are added.
    """

    rules: tuple[RuleDefinition, ...]
    policies: tuple[PolicyDefinition, ...]
    tags: dict[str, tuple[str, ...]]
    subject: Subject | None = None
    """None if no policy applies."""
    terms: SchemaTerms = Field(default_factory=SchemaTerms)
    waiting: tuple[PolicyDefinition, ...] = ()
    """Policies on a tag that no column has yet; a drifted column may bring it."""


@dataclass(frozen=True)
class OpenRun:
    """A running attempt and what it was given."""

    task: Task
    dataset: RegisteredDataset
    plan: RunPlan
    pinned: PinnedRules
    verdict: SchemaVerdict | None
    """None until the live schema was submitted."""


def load_open_run(tx: Transaction, ticket: RunTicket) -> OpenRun:
    """The open run of a ticket; raises ``Fenced`` if the attempt is over.

    Only builds have these steps.
    """
    task = tasks.require(tx, ticket)
    if task.kind is not TaskKind.BUILD:
        raise NotApproved(run=ticket.run_id, reason=f"it is no build, but of kind {task.kind}")
    return opened_run(tx, task, ticket.run_id)


def opened_run(tx: Transaction, task: Task, run_id: str) -> OpenRun:
    opening = opening_of(tx, run_id)
    verdict = schema_verdict(tx, run_id)
    pinned = opening.pinned
    if verdict is not None and verdict.pinned:
        pinned = get_document(tx, verdict.pinned)
    return OpenRun(
        task=task,
        dataset=dataset_by_id(tx, task.dataset_id),
        plan=opening.plan if verdict is None else opening.plan.under(verdict),
        pinned=PinnedRules.from_json(pinned),
        verdict=verdict,
    )

"""What every step of a promotion works with, wired by the composition root."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from lakeguard.dispatch import tasks
from lakeguard.dispatch.tasks import Task
from lakeguard.lake.port import GovernedTables
from lakeguard.ledger.documents import get_document
from lakeguard.registry.store import RegisteredDataset, dataset_by_id
from lakeguard.state.database import Database
from lakeguard.state.tables import run_openings, run_schemas
from lakeguard_sdk.definition import PolicyDefinition, RuleDefinition
from lakeguard_sdk.noun import Noun
from lakeguard_sdk.run import RunPlan, RunTicket, SchemaVerdict
from lakeguard_sdk.storage import join


@dataclass(frozen=True)
class Heart:
    """The State, the lake and the State's clock of one organisation."""

    database: Database
    tables: GovernedTables
    org_id: str
    lake: str
    clock: Callable[[], datetime]
    actor: str

    def location_of(self, dataset: RegisteredDataset) -> str:
        return join(self.lake, dataset.location)


class PinnedRules(Noun):
    """Rules, policies and tags as they stood when the run opened; an edit counts from the next."""

    rules: tuple[RuleDefinition, ...]
    policies: tuple[PolicyDefinition, ...]
    tags: dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class OpenRun:
    """A running attempt and what it was given."""

    task: Task
    dataset: RegisteredDataset
    plan: RunPlan
    pinned: PinnedRules


def load_open_run(connection: Connection, heart: Heart, ticket: RunTicket) -> OpenRun:
    """The run that a ticket opens; raises ``Fenced`` for an attempt that is over."""
    task = tasks.require(connection, heart.org_id, ticket)
    return opened_run(connection, heart, task, ticket.run_id)


def opened_run(connection: Connection, heart: Heart, task: Task, run_id: str) -> OpenRun:
    row = connection.execute(run_openings.select().where(run_openings.c.run_id == run_id)).one()
    return OpenRun(
        task=task,
        dataset=dataset_by_id(connection, heart.org_id, task.dataset_id),
        plan=RunPlan.from_json(get_document(connection, heart.org_id, row.plan_hash)),
        pinned=PinnedRules.from_json(get_document(connection, heart.org_id, row.pinned_hash)),
    )


def schema_verdict(connection: Connection, heart: Heart, run_id: str) -> SchemaVerdict | None:
    """The answer that the run got for its live schema, if it has asked."""
    verdict_hash = connection.scalar(
        run_schemas.select()
        .with_only_columns(run_schemas.c.verdict_hash)
        .where(run_schemas.c.run_id == run_id)
    )
    if verdict_hash is None:
        return None
    return SchemaVerdict.from_json(get_document(connection, heart.org_id, verdict_hash))

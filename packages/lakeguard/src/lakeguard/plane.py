"""The composition root of the embedded control plane: settings in, rooms wired."""

from __future__ import annotations

import getpass
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from lakeguard.access.permission import OwnRun, Refusing
from lakeguard.dispatch import tasks
from lakeguard.dispatch.tasks import TaskKind
from lakeguard.insight.reader import StateReader
from lakeguard.lake.delta import DeltaTables
from lakeguard.ledger.runs import result_of_run
from lakeguard.promotion.heart import Heart
from lakeguard.promotion.reaping import reap
from lakeguard.promotion.rollback import roll_back
from lakeguard.promotion.runs import PromotionRuns
from lakeguard.registry.planning import make_plan
from lakeguard.registry.store import (
    apply_plan,
    job_id_of_dataset,
    read_state,
    require_dataset,
)
from lakeguard.settings import Settings, load_settings
from lakeguard.state.database import Database, sqlite_url
from lakeguard_sdk.client import Client
from lakeguard_sdk.definition import Definitions
from lakeguard_sdk.errors import ReasonNeeded, RollbackBlocked
from lakeguard_sdk.faultpoints import reached
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.planning import Applied, Plan
from lakeguard_sdk.ports import Operations, Registry
from lakeguard_sdk.reading import PointerMove
from lakeguard_sdk.run import RunResult, RunTicket
from lakeguard_sdk.words import RunStatus


def connect_embedded(
    folder: str, *, env: str | None = None, ticket: RunTicket | None = None
) -> Client:
    """The control plane of a folder; its State is created or migrated on the way."""
    settings = load_settings(Path(folder), env)
    database = open_state(settings)
    database.migrate()
    return wire(settings, database, ticket)


def open_state(settings: Settings) -> Database:
    """The environment's State as it is; nothing is connected, created or migrated yet."""
    place = settings.database
    if place.file is not None:
        return Database(sqlite_url(place.file))
    password = None if place.password is None else place.password.resolve
    return Database(place.server, place.schema_name, password)


def wire(settings: Settings, database: Database, ticket: RunTicket | None = None) -> Client:
    """All ports over one State; with a ticket, those that a run does not hold refuse."""
    heart = Heart(
        database=database,
        tables=DeltaTables(),
        org_id=settings.organisation,
        lake=settings.lake,
        clock=lambda: datetime.now(UTC),
        actor=_person(),
    )
    reader = StateReader(database, settings.organisation, settings.lake)
    runs = PromotionRuns(heart)
    if ticket is not None:
        holder = f"run {ticket.run_id}"
        return Client(
            reader=reader,
            runs=OwnRun(runs, ticket),
            registry=cast(Registry, Refusing(holder, "registry")),
            operations=cast(Operations, Refusing(holder, "operations")),
            lake=settings.lake,
        )
    return Client(
        reader=reader,
        runs=runs,
        registry=EmbeddedRegistry(heart),
        operations=EmbeddedOperations(heart),
        lake=settings.lake,
    )


def _person() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"


@dataclass(frozen=True)
class EmbeddedRegistry:
    heart: Heart

    def plan(self, definitions: Definitions) -> Plan:
        with self.heart.database.read() as connection:
            return make_plan(definitions, read_state(connection, self.heart.org_id))

    def apply(self, plan: Plan) -> Applied:
        heart = self.heart
        with heart.database.write() as connection:
            return apply_plan(connection, plan, heart.org_id, heart.actor, heart.clock())


@dataclass(frozen=True)
class EmbeddedOperations:
    heart: Heart

    def submit(self, name: DatasetName, triggered_by: str, key: str | None = None) -> str:
        heart = self.heart
        with heart.database.write() as connection:
            dataset = require_dataset(connection, heart.org_id, name)
            task_id = tasks.submit(
                connection,
                heart.org_id,
                dataset.dataset_id,
                kind=TaskKind.BUILD,
                key=key,
                parameters="{}",
                triggered_by=triggered_by,
                at=heart.clock(),
                job_id=job_id_of_dataset(connection, heart.org_id, name),
            )
        reached("task.submitted")
        return task_id

    def requeue(self, task_id: str) -> bool:
        """Whether the task will be tried again: its failure may pass, and attempts are left."""
        heart = self.heart
        with heart.database.write() as connection:
            run_id = tasks.get_task(connection, heart.org_id, task_id).run_id
            ended = None if run_id is None else result_of_run(connection, heart.org_id, run_id)
            if ended is None or ended.error is None or not ended.error.retryable:
                return False
            return tasks.requeue(connection, heart.org_id, task_id)

    def reap(self) -> Sequence[RunResult]:
        return reap(self.heart)

    def rollback(self, name: DatasetName, to: int, reason: str) -> PointerMove:
        if not reason.strip():
            raise ReasonNeeded(dataset=name, version=to)
        reap(self.heart)
        result = roll_back(self.heart, name, to, reason)
        if result.status is not RunStatus.SUCCESS:
            reasons = result.decision.ruling.reasons if result.decision else ()
            raise RollbackBlocked(dataset=name, version=to, reason="; ".join(reasons))
        heart = self.heart
        return StateReader(heart.database, heart.org_id, heart.lake).pointer_moves(name)[-1]

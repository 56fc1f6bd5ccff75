"""The jobs port of the embedded control plane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from lakeguard.dispatch.task_list import list_tasks, list_transitions, show_task
from lakeguard.ledger.switches import switch_job
from lakeguard.notifications.events.store import EventMessenger
from lakeguard.promotion.context import Heart
from lakeguard.promotion.moves.cancel import cancel_task
from lakeguard.scheduler.graph.deploy import deploy, plan_deployment
from lakeguard.scheduler.graph.store import list_graphs
from lakeguard.scheduler.invalidations.run_cache import KnownRuns
from lakeguard.scheduler.launch.job_list import list_jobs, require_job, show_job
from lakeguard.scheduler.launch.manual import trigger
from lakeguard.scheduler.launch.retry import retry
from lakeguard.scheduler.triggers.external_events import receive
from lakeguard.scheduler.triggers.tick import Watch, tick
from lakeguard.services.ports.loops import other_loops
from lakeguard.services.users import acting
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.errors import SecretReason
from lakeguard_sdk.scheduling.jobs import (
    DagVersion,
    Deployed,
    JobRow,
    Launch,
    Ticked,
)
from lakeguard_sdk.scheduling.tasks import TaskRow, Transition
from lakeguard_sdk.security.secret_values import holds_secret
from lakeguard_sdk.storage.fault_points import reached


@dataclass(frozen=True)
class EmbeddedJobs:
    heart: Heart
    herald: EventMessenger | None = None
    watch: Watch = field(default_factory=Watch, compare=False)
    """What is remembered from turn to turn."""
    runs: KnownRuns = field(default_factory=KnownRuns, compare=False)

    def deploy_plan(self, to: str | None = None) -> Deployed:
        with self.heart.database.read() as connection:
            return plan_deployment(connection, self.heart, to)

    @acting
    def deploy(self, reason: str = "", *, to: str | None = None) -> Deployed:
        return deploy(self.heart, reason, to)

    def dag_versions(self, *, limit: int = 50) -> Sequence[DagVersion]:
        with self.heart.database.read() as connection:
            return list_graphs(connection, self.heart.org_id, limit)

    def jobs(self) -> Sequence[JobRow]:
        with self.heart.database.read() as connection:
            return list_jobs(connection, self.heart.org_id)

    def job(self, name: str) -> JobRow:
        with self.heart.database.read() as connection:
            return show_job(connection, self.heart.org_id, name)

    @acting
    def switch(self, name: str, *, enabled: bool, reason: str = "") -> JobRow:
        heart = self.heart
        with heart.database.write() as connection:
            job = require_job(connection, heart.org_id, name)
            switch_job(
                connection,
                heart.org_id,
                job.job_id,
                enabled=enabled,
                actor=heart.actor,
                reason=reason,
                at=heart.clock(),
            )
        return self.job(name)

    @acting
    def trigger(
        self,
        name: str,
        triggered_by: str,
        *,
        day: date | None = None,
        set_to: Mapping[str, str] | None = None,
        key: str | None = None,
        here: bool = False,
    ) -> Launch:
        said: dict[str, Any] = {"day": day, "set_to": set_to, "key": key, "here": here}
        launched = self.heart.database.transact(
            lambda connection: trigger(connection, self.heart, name, triggered_by, **said)
        )
        reached("task.submitted")
        return launched

    def tasks(
        self, *, state: TaskState | None = None, job: str | None = None, limit: int = 50
    ) -> Sequence[TaskRow]:
        with self.heart.database.read() as connection:
            if job is not None:
                require_job(connection, self.heart.org_id, job)
            return list_tasks(connection, self.heart.org_id, state=state, job=job, limit=limit)

    def task(self, task_id: str) -> TaskRow:
        with self.heart.database.read() as connection:
            return show_task(connection, self.heart.org_id, task_id)

    def transitions(self, task_id: str) -> Sequence[Transition]:
        with self.heart.database.read() as connection:
            return list_transitions(connection, self.heart.org_id, task_id)

    @acting
    def retry(self, task_id: str, reason: str = "") -> TaskRow:
        heart = self.heart
        if holds_secret(reason):
            raise SecretReason()
        heart.database.transact(lambda connection: retry(connection, heart, task_id, reason))
        return self.task(task_id)

    @acting
    def cancel(self, task_id: str, reason: str = "") -> TaskRow:
        if holds_secret(reason):
            raise SecretReason()
        cancel_task(self.heart, task_id, self.heart.actor, None, reason)
        return self.task(task_id)

    def receive(self, body: bytes, *, shape: str | None = None) -> Sequence[Launch]:
        return receive(self.heart, body, shape, self.watch)

    def tick(self, *, tell: bool = True) -> Ticked:
        herald = self.herald if tell else None
        others = tuple(other_loops(self.heart, herald, self.runs))
        return tick(self.heart, self.watch, others)

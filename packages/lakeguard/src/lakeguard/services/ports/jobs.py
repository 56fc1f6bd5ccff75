"""The jobs port of the embedded control plane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from lakeguard.dispatch.task_list import list_tasks, list_transitions, show_task
from lakeguard.ledger.switches import switch_job
from lakeguard.notifications.sender import NotificationSender
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.moves.cancel import cancel_task
from lakeguard.scheduler.graph.deploy import deploy, plan_deployment
from lakeguard.scheduler.graph.store import list_graphs
from lakeguard.scheduler.invalidations.run_cache import KnownRuns
from lakeguard.scheduler.launch.job_list import list_jobs, require_job, show_job
from lakeguard.scheduler.launch.manual import trigger
from lakeguard.scheduler.launch.retry import retry
from lakeguard.scheduler.loop import other_loops
from lakeguard.scheduler.triggers.external_events import receive
from lakeguard.scheduler.triggers.tick import Watch, tick
from lakeguard.services.users import records_actor
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.errors import SecretInReason
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
    context: PlaneContext
    event_sender: NotificationSender | None = None
    watch: Watch = field(default_factory=Watch, compare=False)
    """State kept between ticks."""
    runs: KnownRuns = field(default_factory=KnownRuns, compare=False)

    def deploy_plan(self, to: str | None = None) -> Deployed:
        with self.context.read() as tx:
            return plan_deployment(tx, to)

    @records_actor
    def deploy(self, reason: str = "", *, to: str | None = None) -> Deployed:
        return deploy(self.context, reason, to)

    def dag_versions(self, *, limit: int = 50) -> Sequence[DagVersion]:
        with self.context.read() as tx:
            return list_graphs(tx, limit)

    def jobs(self) -> Sequence[JobRow]:
        with self.context.read() as tx:
            return list_jobs(tx)

    def job(self, name: str) -> JobRow:
        with self.context.read() as tx:
            return show_job(tx, name)

    @records_actor
    def switch(self, name: str, *, enabled: bool, reason: str = "") -> JobRow:
        context = self.context
        with context.write() as tx:
            job = require_job(tx, name)
            switch_job(tx, job.job_id, enabled=enabled, reason=reason)
        return self.job(name)

    @records_actor
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
        options: dict[str, Any] = {"day": day, "set_to": set_to, "key": key, "here": here}
        launched = self.context.transact(
            lambda tx: trigger(tx, self.context, name, triggered_by, **options)
        )
        reached("task.submitted")
        return launched

    def tasks(
        self, *, state: TaskState | None = None, job: str | None = None, limit: int = 50
    ) -> Sequence[TaskRow]:
        with self.context.read() as tx:
            if job is not None:
                require_job(tx, job)
            return list_tasks(tx, state=state, job=job, limit=limit)

    def task(self, task_id: str) -> TaskRow:
        with self.context.read() as tx:
            return show_task(tx, task_id)

    def transitions(self, task_id: str) -> Sequence[Transition]:
        with self.context.read() as tx:
            return list_transitions(tx, task_id)

    @records_actor
    def retry(self, task_id: str, reason: str = "") -> TaskRow:
        context = self.context
        if holds_secret(reason):
            raise SecretInReason()
        context.transact(lambda tx: retry(tx, task_id, reason))
        return self.task(task_id)

    @records_actor
    def cancel(self, task_id: str, reason: str = "") -> TaskRow:
        if holds_secret(reason):
            raise SecretInReason()
        cancel_task(self.context, task_id, self.context.actor, None, reason)
        return self.task(task_id)

    def receive(self, body: bytes, *, shape: str | None = None) -> Sequence[Launch]:
        return receive(self.context, body, shape, self.watch)

    def tick(self, *, send_events: bool = True) -> Ticked:
        sender = self.event_sender if send_events else None
        send_due = None if sender is None else sender.send_due
        others = tuple(other_loops(self.context, send_due, self.runs))
        return tick(self.context, self.watch, others)

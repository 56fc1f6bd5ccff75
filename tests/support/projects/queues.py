"""Queues for tests: jobs in Python that are never called, and workers that say they did it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from itertools import count
from typing import Any

from sqlalchemy import select

from lakeguard.dispatch.retry import queue_due_retries, retry_task
from lakeguard.dispatch.submit import NewTask, submit_all
from lakeguard.dispatch.task_list import list_transitions, require_task
from lakeguard.dispatch.task_row import Task
from lakeguard.lake.delta import DeltaTables
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.moves.cancel import cancel_task
from lakeguard.promotion.moves.reap import reap_reported
from lakeguard.registry.apply_plan import apply_plan
from lakeguard.registry.planning.plan import make_plan
from lakeguard.registry.store import read_state
from lakeguard.services.ports.dispatch import EmbeddedDispatch
from lakeguard.state.database import Database
from lakeguard.state.schema import md_jobs
from lakeguard_sdk.core.enums import TaskKind, TaskState
from lakeguard_sdk.model.definitions import Definitions, JobDefinition
from lakeguard_sdk.model.run import Failure, RunTicket, WorkerIdentity
from lakeguard_sdk.scheduling.tasks import (
    Assignment,
    TaskAnswer,
    TaskReport,
    Transition,
)
from tests.support.projects.planes import ELSEWHERE, Clock

DONE = TaskReport(success=True)
BUSY = TaskReport(success=False, error=Failure(code="BUSY", message="later", retryable=True))
WRONG = TaskReport(success=False, error=Failure(code="WRONG", message="never"))
_numbers = count(1)


def job(name: str, **config: object) -> JobDefinition:
    given = {key: str(value) for key, value in config.items()}
    return JobDefinition(job=name, type="python", config={"call": "jobs:main", **given})


@dataclass
class Queue:
    """One organisation's, on a State that others may share."""

    context: PlaneContext
    clock: Clock
    ids: dict[str, str] = field(default_factory=dict)
    """Of jobs, by name."""

    @cached_property
    def dispatch(self) -> EmbeddedDispatch:
        return EmbeddedDispatch(self.context)

    def define(self, *jobs: JobDefinition) -> None:
        context = self.context
        with context.write() as tx:
            plan = make_plan(Definitions(jobs=jobs), read_state(tx))
            apply_plan(tx, plan, "tester", self.clock())
            named = select(md_jobs.c.job_name, md_jobs.c.job_id)
            rows = tx.execute(named.where(md_jobs.c.org_id == context.org_id))
            self.ids = {row.job_name: row.job_id for row in rows}

    def put(self, name: str, times: int = 1, *, due_in: float = 0, **more: Any) -> list[str]:
        """New tasks of a job."""
        at = self.clock()
        new = [
            NewTask(
                kind=more.get("kind", TaskKind.PYTHON),
                subject=self.ids[name],
                key=f"key {next(_numbers)}",
                parameters=more.get("parameters", "{}"),
                triggered_by="tests",
                attempts=more.get("attempts", 3),
                actor="tests",
                due_at=at + timedelta(seconds=due_in),
                job_id=self.ids[name],
                priority=more.get("priority", 0),
                labels=more.get("labels", ()),
            )
            for _ in range(times)
        ]
        with self.context.write() as tx:
            added = submit_all(tx, new, at)
        return [task_id for task_id in added if task_id is not None]

    def put_without_job(self, priority: int = 0) -> str:
        """A task that is of no job, as the build of a dataset can be."""
        new = NewTask(
            kind=TaskKind.PYTHON,
            subject="nobody's",
            key=None,
            parameters="{}",
            triggered_by="tests",
            attempts=3,
            actor="tests",
            due_at=self.clock(),
            priority=priority,
        )
        with self.context.write() as tx:
            (added,) = submit_all(tx, [new], self.clock())
        assert added is not None
        return added

    def claim(
        self, limit: int = 1, labels: Sequence[str] = (), worker: WorkerIdentity = ELSEWHERE
    ) -> tuple[Assignment, ...]:
        return self.dispatch.claim(worker, limit=limit, labels=frozenset(labels))

    def take(self, limit: int = 1, **more: Any) -> list[str]:
        """The ids of the tasks that a claim brings."""
        return [each.ticket.task_id for each in self.claim(limit, **more)]

    def report(self, ticket: RunTicket, report: TaskReport = DONE) -> TaskAnswer:
        return self.dispatch.report(ticket, report)

    def task(self, task_id: str) -> Task:
        with self.context.read() as tx:
            return require_task(tx, task_id)

    def state(self, task_id: str) -> TaskState:
        return self.task(task_id).state

    def path(self, task_id: str) -> list[TaskState]:
        return [each.to_state for each in self.transitions(task_id)]

    def transitions(self, task_id: str) -> list[Transition]:
        with self.context.read() as tx:
            return list_transitions(tx, task_id)

    def queue_retries(self) -> list[str]:
        rules = self.context.dispatch
        queued = self.context.transact(lambda tx: queue_due_retries(tx, "dispatcher", rules))
        return [task.task_id for task in queued]

    def retry(self, task_id: str, reason: str = "") -> Task:
        with replace(self.context, actor="operator").write() as tx:
            task = require_task(tx, task_id)
            return retry_task(tx, task, reason)

    def cancel(self, task_id: str, reason: str = "") -> Task:
        return cancel_task(self.context, task_id, "operator", None, reason)

    def reap(self) -> list[str]:
        return [task.task_id for task in reap_reported(self.context)]

    def of(self, database: Database) -> Queue:
        """The same queue through other connections, as another process has them."""
        return replace(self, context=replace(self.context, database=database))


def make_queue(database: Database, *jobs: JobDefinition, clock: Clock | None = None) -> Queue:
    """An organisation of its own."""
    clock = clock or Clock()
    context = PlaneContext(
        database=database,
        tables=DeltaTables(),
        org_id=f"org {next(_numbers)}",
        lake="unused",
        clock=clock,
        actor="tester",
    )
    queue = Queue(context, clock)
    queue.define(*jobs)
    return queue

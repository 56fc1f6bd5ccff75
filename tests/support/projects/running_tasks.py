"""Attempts under way of jobs that build no dataset, for tests of how they end."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from lakeguard.dispatch.submit import NewTask, submit_all
from lakeguard.dispatch.task_changes import Change, Holding, change
from lakeguard.dispatch.task_list import require_task
from lakeguard.dispatch.terms import JobTerms, keep_terms
from lakeguard.lake.delta import DeltaTables
from lakeguard.promotion.context import PlaneContext
from lakeguard.state import outbox
from lakeguard.state.database import Database
from lakeguard.state.schema import task_attempts
from lakeguard_sdk.core.enums import TaskKind, TaskState
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.model.run import Failure, RunTicket
from lakeguard_sdk.scheduling.jobs import JobControls
from lakeguard_sdk.scheduling.tasks import Output, TaskReport
from tests.support.projects.planes import ELSEWHERE, Clock

JOB = "job_sweep"
DONE = TaskReport(success=True, outputs={"swept": Output(location="out/day.csv", rows=7)})
BROKEN = TaskReport(success=False, error=Failure(code="SWEEP-7", message="no broom"))
_numbers = count(1)


def make_context(
    database: Database, lake: Path, clock: Clock | None = None, org_id: str = "default"
) -> PlaneContext:
    database.migrate()
    return PlaneContext(
        database=database,
        tables=DeltaTables(),
        org_id=org_id,
        lake=str(lake),
        clock=clock or Clock(),
        actor="tester",
    )


def submit(
    context: PlaneContext, kind: TaskKind = TaskKind.PYTHON, *, key: str | None = None,
    job: str = JOB, attempts: int = 3, subject: str | None = None,
) -> str:  # fmt: skip
    new = NewTask(
        kind=kind,
        subject=subject or job,
        key=key or f"key {next(_numbers)}",
        parameters="{}",
        triggered_by="tests",
        attempts=attempts,
        actor="tests",
        job_id=job,
    )
    with context.write() as tx:
        (task_id,) = submit_all(tx, [new], context.clock())
    assert task_id is not None
    return task_id


def begin(context: PlaneContext, task_id: str, outputs: tuple[str, ...] = ("swept",)) -> RunTicket:
    """The next attempt of a queued task, by a worker that is elsewhere."""
    at = context.clock()
    terms = {JOB: JobTerms(controls=JobControls(call="jobs:main", outputs=outputs))}
    with context.write() as tx:
        task = require_task(tx, task_id)
        held = Holding(
            run_id=new_id("run"),
            attempt=task.attempt + 1,
            lease_token=new_id("lease"),
            lease_expires_at=at + context.dispatch.lease,
            worker=ELSEWHERE,
        )
        change(tx, [Change(task, TaskState.RUNNING, "tests", holding=held)], at)
        row = {
            "task_id": task_id,
            "attempt": held.attempt,
            "run_id": held.run_id,
            "org_id": context.org_id,
            "started_at": at,
            "worker": ELSEWHERE.to_json(),
            "config_hash": keep_terms(tx, terms, at)[JOB],
        }
        outbox.record(tx, task_attempts, [row], at)
    return RunTicket(
        run_id=held.run_id, task_id=task_id, attempt=held.attempt, lease_token=held.lease_token
    )


def begun(context: PlaneContext, kind: TaskKind = TaskKind.PYTHON, **of: str) -> RunTicket:
    """The first attempt of a new task."""
    return begin(context, submit(context, kind, **of))

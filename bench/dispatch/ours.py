"""The dispatcher itself: tasks are claimed in batches and reported in batches.

The outbox is written with every task; who brings it to the lake is measured elsewhere.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bench.dispatch import guarantees
from bench.dispatch.racing import Address, Gate, Queue
from lakeguard.lake.delta import DeltaTables
from lakeguard.promotion.context import PlaneContext
from lakeguard.registry.apply_plan import apply_plan
from lakeguard.registry.planning.plan import make_plan
from lakeguard.registry.store import read_state
from lakeguard.scheduler.launch.launch import (
    Cause,
    CauseKind,
    LaunchRequest,
    launch,
)
from lakeguard.services.ports.dispatch import EmbeddedDispatch
from lakeguard.services.ports.jobs import EmbeddedJobs
from lakeguard.state.database import Database
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.model.definitions import Definitions, JobDefinition
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.scheduling.tasks import TaskAnswer, TaskReport

ORG = "default"
BATCH = 100
JOBS = 10
_AT_A_TIME = 5_000
_DONE = TaskReport(success=True)


def context_of(address: Address, schema: str) -> PlaneContext:
    """The dispatcher's State in a schema of its own."""
    database = Database(address.url, schema)
    return PlaneContext(
        database=database,
        tables=DeltaTables(),
        org_id=ORG,
        lake=str(Path(address.host) / schema),
        clock=database.clock,
        actor="bench",
    )


def define_jobs(context: PlaneContext, jobs: list[JobDefinition]) -> list[str]:
    """Applied and deployed; their ids, in the order of their names."""
    context.database.migrate()
    with context.write() as tx:
        plan = make_plan(Definitions(jobs=tuple(jobs)), read_state(tx))
        apply_plan(tx, plan, "bench", context.clock())
    ports = EmbeddedJobs(context)
    ports.deploy()
    return [row.job_id for row in sorted(ports.jobs(), key=lambda row: row.job)]


def idle_job(name: str, **config: str) -> JobDefinition:
    settings = {"call": "nothing:at_all", "concurrency": "1000", **config}
    return JobDefinition(job=name, type="python", config=settings)


def queue_tasks(context: PlaneContext, job_ids: list[str], tasks: int) -> None:
    """So many tasks, spread over the jobs."""
    cause = Cause(kind=CauseKind.MANUAL)
    for first in range(0, tasks, _AT_A_TIME):
        wishes = [
            LaunchRequest(job_ids[number % len(job_ids)], new_id("task"), cause, "bench")
            for number in range(first, min(first + _AT_A_TIME, tasks))
        ]
        with context.write() as tx:
            launch(tx, context, wishes)


def fill(address: Address, tasks: int) -> None:
    context = context_of(address, "race")
    job_ids = define_jobs(context, [idle_job(f"nothing_{number:02d}") for number in range(JOBS)])
    queue_tasks(context, job_ids, tasks)
    context.database.close()


def drain(address: Address, gate: Gate) -> None:
    dispatch = EmbeddedDispatch(context_of(address, "race"))
    dispatch.keep(())  # connected
    gate.pass_through()
    work_off(dispatch)


def work_off(dispatch: EmbeddedDispatch) -> None:
    worker = this_process("bench")
    while claimed := dispatch.claim(worker, limit=BATCH):
        answers = dispatch.report_all([(each.ticket, _DONE) for each in claimed])
        assert all(isinstance(answer, TaskAnswer) for answer in answers), answers[0]


def drain_singly(address: Address, gate: Gate) -> None:
    """As a worker with one slot: a report brings the next task."""
    dispatch, worker = EmbeddedDispatch(context_of(address, "race")), this_process("bench")
    dispatch.keep(())  # connected
    gate.pass_through()
    claimed = dispatch.claim(worker)
    while claimed:
        reports = [(each.ticket, _DONE) for each in claimed]
        (answer,), claimed = dispatch.report_and_claim(reports, worker)
        assert isinstance(answer, TaskAnswer), answer
        claimed = claimed or dispatch.claim(worker)


OURS = Queue(
    name="lakeguard",
    use=f"processes, batches of {BATCH}",
    guarantees=guarantees.OURS,
    fill=fill,
    drain=drain,
    done="""
        SELECT count(*), max(ended_at) FROM race.task_results
        WHERE status = 'SUCCESS' AND ended_at >= '{begun}'
    """,
)
SINGLY = replace(
    OURS, name="lakeguard one by one", use="processes, a task each", drain=drain_singly
)

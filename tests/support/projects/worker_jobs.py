"""Projects with jobs that a worker runs, and a worker in this process for them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from lakeguard.worker import (
    Ending,
    TaskRunner,
    WorkerOptions,
    WorkLoop,
)
from lakeguard.worker.loop import Listener
from lakeguard_sdk import Client
from lakeguard_sdk.client import local_worker
from lakeguard_sdk.model.definitions import Definitions, JobDefinition
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.scheduling.tasks import TaskRow
from tests.support.projects.projects import make_project


def python_job(name: str = "nightly", **config: str) -> JobDefinition:
    """Calls ``main`` of the module of its name."""
    return JobDefinition(job=name, type="python", config={"call": f"{name}:main", **config})


def job_project(folder: Path, *jobs: JobDefinition) -> Client:
    """Applied and deployed."""
    client = make_project(folder, Definitions(jobs=jobs))
    client.jobs.deploy()
    return client


def loop_of(client: Client, *, tell: Listener = lambda *_: None, **manner: Any) -> WorkLoop:
    """A worker that ends when there is nothing to do."""
    runner = TaskRunner(client, local_worker(client.for_worker(), spark_options={}))
    given = WorkerOptions(**{"drain": True, "poll_seconds": 0.05, "grace_seconds": 5.0, **manner})
    identity = this_process("worker")
    return WorkLoop(
        client.dispatch, identity, runner.work, runner.halt, given, tell, runner.reports
    )


def work(client: Client, **manner: Any) -> Counter[Ending]:
    return loop_of(client, **manner).run()


def task_of(client: Client, job: str = "nightly", **wish: Any) -> str:
    return client.jobs.trigger(job, "tests", **wish).task_id


def why(row: TaskRow) -> tuple[str, str | None]:
    """Where it stands, and the code of the last change."""
    return row.state.value, None if row.last is None else row.last.code

"""Projects whose jobs workers claim, and what holds of their tasks whatever died meanwhile."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, select

from lakeguard.dispatch.task_changes import is_allowed
from lakeguard.plane import open_state
from lakeguard.settings import load_settings
from lakeguard.state import schema as t
from lakeguard.state.database import Database
from lakeguard_sdk import Client, connect
from lakeguard_sdk.core.enums import LoadType, TaskState
from lakeguard_sdk.model.definitions import Definitions, JobDefinition
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.scheduling.tasks import (
    Assignment,
    Output,
    TaskAnswer,
    TaskReport,
)
from tests.support.databases.databases import Server
from tests.support.projects.planes import numbers_definitions
from tests.support.projects.projects import copy_state, settings_text

JOB = "nightly"
DONE = TaskReport(success=True, outputs={"report": Output(rows=3)})
QUICK = {"backoff_first_seconds": 1, "backoff_longest_seconds": 1}
"""Settings with which a test need not wait long."""
SHORT = {"lease_seconds": 2, "heartbeat_seconds": 1}
"""And those of a test that waits for the end of a lease."""
OPEN = (TaskState.QUEUED.value, TaskState.RUNNING.value)


def python_job(name: str = JOB, **config: str) -> JobDefinition:
    given = {"call": "jobs:main", "outputs": "report", "concurrency": "100", **config}
    return JobDefinition(job=name, type="python", config=given)


def job_project(
    folder: Path, *jobs: JobDefinition, server: Server | None = None, **dispatch: int
) -> Client:
    """Applied and deployed, beside the numbers dataset and the job that builds it."""
    folder.mkdir(parents=True, exist_ok=True)
    place = f'[env.dev]\ndatabase = "{server.url}"\n' if server else settings_text()
    described = {**QUICK, **dispatch}
    lines = "".join(f"{key} = {value}\n" for key, value in described.items())
    (folder / "lakeguard.toml").write_text(f"{place}\n[env.dev.dispatch]\n{lines}")
    if server is None:
        copy_state(folder)
    client = connect(folder)
    builds = numbers_definitions(LoadType.APPEND)
    build = JobDefinition(job="numbers", dataset=builds.datasets[0].dataset)
    given = (*(jobs or (python_job(),)), build)
    definitions = Definitions(sources=builds.sources, datasets=builds.datasets, jobs=given)
    client.registry.apply(client.registry.plan(definitions))
    client.jobs.deploy("tests")
    return client


def trigger(client: Client, key: str, job: str = JOB) -> str:
    return client.jobs.trigger(job, "tests", key=key).task_id


def claim_one(client: Client, name: str = "by hand") -> Assignment:
    (claimed,) = client.dispatch.claim(this_process(name), limit=1)
    return claimed


def work_off(client: Client, limit: int = 10) -> list[TaskAnswer]:
    """Claims and completes until nothing is due; each answer is of a report that was taken."""
    answers: list[TaskAnswer] = []
    while claimed := client.dispatch.claim(this_process("by hand"), limit=limit):
        answers += [client.dispatch.report(each.ticket, DONE) for each in claimed]
    return answers


def state_of(folder: Path) -> Database:
    return open_state(load_settings(folder, None))


def states(folder: Path) -> Counter[str]:
    """How many tasks are in each state."""
    database = state_of(folder)
    try:
        with database.read() as connection:
            return Counter(connection.scalars(select(t.tasks.c.state)))
    finally:
        database.close()


def assert_books(folder: Path) -> None:
    """What must hold of tasks at any moment: nothing lost, nothing doubled, everything told."""
    database = state_of(folder)
    try:
        with database.read() as connection:
            _assert_books(connection)
    finally:
        database.close()


def _assert_books(connection: Connection) -> None:
    changes = _by_task(connection, t.task_transitions)
    attempts = _by_task(connection, t.task_attempts)
    results = _by_task(connection, t.task_results)
    outputs = _by_task(connection, t.output_materializations)
    moves = set(connection.scalars(select(t.run_history.c.run_id)))
    for task in _rows(connection, t.tasks):
        key = task["task_id"]
        _assert_chain(task, sorted(changes[key], key=lambda row: row["number"]))
        begun = sorted(row["attempt"] for row in attempts[key])
        assert begun == list(range(1, task["attempt"] + 1)), key
        assert task["attempt"] <= task["max_attempts"], key
        ended = [row["run_id"] for row in results[key]]
        assert len(ended) == len(set(ended)), key
        ended += [row["run_id"] for row in attempts[key] if row["run_id"] in moves]
        running = task["state"] == TaskState.RUNNING
        assert len(ended) == len(attempts[key]) - (1 if running else 0), key
        well = [row for row in results[key] if row["status"] == "SUCCESS"]
        if task["kind"] == "python":
            assert len(well) == (1 if task["state"] == TaskState.COMPLETED else 0), key
            assert len(outputs[key]) == len(well), key
    _assert_told(connection)


def _assert_chain(task: dict[str, Any], changes: list[dict[str, Any]]) -> None:
    """Numbered without a gap, each from where the last one led, up to the state it is in."""
    before = None
    for number, change in enumerate(changes, 1):
        assert (change["number"], change["from_state"]) == (number, before), task["task_id"]
        came = None if before is None else TaskState(before)
        assert is_allowed(came, TaskState(change["to_state"])), task["task_id"]
        before = change["to_state"]
    assert (before, len(changes)) == (task["state"], task["changes"]), task["task_id"]


def _assert_told(connection: Connection) -> None:
    """Every row is in the outbox or was delivered, once: what waits is no more than there is."""
    rows = Counter(connection.scalars(select(t.outbox.c.payload)))
    assert max(rows.values(), default=1) == 1


def _by_task(connection: Connection, table: Table) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in _rows(connection, table):
        found[row["task_id"]].append(row)
    return found


def _rows(connection: Connection, table: Table) -> list[dict[str, Any]]:
    return [dict(row._mapping) for row in connection.execute(select(table))]

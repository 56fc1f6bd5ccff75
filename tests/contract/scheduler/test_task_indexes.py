"""However many tasks have ended, questions about a few of them are looks into an index."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from lakeguard.dispatch.task_list import list_tasks
from lakeguard.promotion.context import PlaneContext
from lakeguard.scheduler.graph.deploy import Superseded, cancel_superseded
from lakeguard.services.ports.jobs import EmbeddedJobs
from lakeguard_sdk.core.enums import TaskState
from tests.support.projects.job_graphs import deployed_world, job, revise

pytestmark = pytest.mark.usefixtures("each_state")

LATE = job("late", type="python", config={"call": "jobs.late:main"})


@pytest.fixture
def context(tmp_path: Path) -> PlaneContext:
    """Of a State without a task, whose newest graph was left."""
    client = deployed_world(tmp_path)
    (before,) = client.jobs.dag_versions()
    revise(client, LATE)
    client.jobs.deploy("more")
    client.jobs.deploy(to=before.dag_version_id)
    assert isinstance(client.jobs, EmbeddedJobs)
    return client.jobs.context


def plan(context: PlaneContext, work: Callable[[], object], *without: str) -> str:
    """How the one question is answered that the work asks of the tasks, by a planner that takes an
    index wherever there is one; PostgreSQL's goes without these ways beside."""
    sent: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, given: str, values: Any, *_rest: Any) -> None:
        sent.extend([(given, values)] if "FROM tasks" in given else [])

    event.listen(context.database.engine, "before_cursor_execute", note)
    work()
    event.remove(context.database.engine, "before_cursor_execute", note)
    ((given, values),) = sent
    with context.read() as tx:
        explain = "EXPLAIN QUERY PLAN "
        if tx.dialect.name == "postgresql":
            explain = "EXPLAIN "
            for way in ("seqscan", "bitmapscan", *without):
                tx.connection.exec_driver_sql(f"SET LOCAL enable_{way} = off")
        return "\n".join(str(row) for row in tx.connection.exec_driver_sql(explain + given, values))


def test_open_tasks_of_a_graph_are_looked_up(context: PlaneContext) -> None:
    def work() -> None:
        assert cancel_superseded(context) == Superseded()

    assert "ix_tasks_graph" in plan(context, work)


@pytest.mark.parametrize("state", [None, TaskState.DEAD])
def test_the_newest_tasks_are_looked_up_by_state(
    context: PlaneContext, state: TaskState | None
) -> None:
    def work() -> None:
        with context.read() as tx:
            assert list_tasks(tx, state=state) == []

    reported = plan(context, work, "sort")
    assert reported.count("ix_tasks_state") >= (1 if state else len(TaskState))

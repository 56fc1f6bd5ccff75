"""However many tasks have ended, questions about a few of them are looks into an index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Connection, event, select

from lakeguard.dispatch.listing import list_tasks
from lakeguard.dispatch.open_tasks import not_over
from lakeguard.state.database import Database
from lakeguard.state.tables import tasks
from lakeguard_sdk.words import TaskState

ORG = "default"


@pytest.fixture
def connection(database: Database) -> Iterator[Connection]:
    """Of an empty State, whose planner takes an index wherever there is one."""
    database.migrate()
    with database.read() as connection:
        if connection.dialect.name == "postgresql":
            for way in ("seqscan", "bitmapscan", "sort"):
                connection.exec_driver_sql(f"SET LOCAL enable_{way} = off")
        yield connection


def plan(connection: Connection, said: str, values: Any) -> str:
    explain = {"sqlite": "EXPLAIN QUERY PLAN ", "postgresql": "EXPLAIN "}
    rows = connection.exec_driver_sql(explain[connection.dialect.name] + said, values)
    return "\n".join(str(row) for row in rows)


def test_open_tasks_of_a_graph_are_looked_up(connection: Connection) -> None:
    query = select(tasks).where(
        tasks.c.org_id == ORG, tasks.c.dag_version_id.in_(["one", "two"]), not_over()
    )
    asked = query.compile(connection, compile_kwargs={"literal_binds": True})
    assert "ix_tasks_graph" in plan(connection, str(asked), ())


@pytest.mark.parametrize("state", [None, TaskState.DEAD])
def test_the_newest_tasks_are_looked_up_by_state(
    connection: Connection, state: TaskState | None
) -> None:
    sent: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, said: str, values: Any, *_rest: Any) -> None:
        sent.append((said, values))

    event.listen(connection, "before_cursor_execute", note)
    assert list_tasks(connection, ORG, state=state) == []
    event.remove(connection, "before_cursor_execute", note)
    ((said, values),) = sent
    told = plan(connection, said, values)
    assert told.count("ix_tasks_state") >= (1 if state else len(TaskState))

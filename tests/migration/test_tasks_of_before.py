"""Tasks that were given before there was a queue: no worker takes them, and nothing of them is
lost."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import Connection, bindparam, select, text
from sqlalchemy.exc import IntegrityError

from lakeguard.dispatch.listing import list_transitions, require_task
from lakeguard.dispatch.retrying import retry_task
from lakeguard.dispatch.tasks import claim
from lakeguard.insight.verifying.history import history_findings
from lakeguard.settings import DispatchSettings
from lakeguard.state.column_types import UtcTime
from lakeguard.state.database import Database
from lakeguard.state.tables import tasks
from lakeguard_sdk.task_errors import NotRetryable
from lakeguard_sdk.words import TaskKind, TaskState
from tests.worlds.planes import ELSEWHERE
from tests.worlds.queues import make_queue

THEN = datetime(2025, 1, 1, tzinfo=UTC)
ORG = "before"
LEASE = DispatchSettings().lease
COLUMNS = (
    "task_id", "org_id", "kind", "dataset_id", "dedupe_key", "parameters", "triggered_by",
    "created_at", "max_attempts", "state", "attempt",
)  # fmt: skip


def give(connection: Connection, task_id: str, state: str, attempt: int) -> None:
    values = (task_id, ORG, "build", "ds", task_id, "{}", "cli", THEN, 3, state, attempt)
    marks = ", ".join(f":{name}" for name in COLUMNS)
    statement = text(f"INSERT INTO tasks ({', '.join(COLUMNS)}) VALUES ({marks})")
    moment = statement.bindparams(bindparam("created_at", type_=UtcTime()))
    connection.execute(moment, dict(zip(COLUMNS, values, strict=True)))


@pytest.fixture
def migrated(database: Database, monkeypatch: pytest.MonkeyPatch) -> Database:
    """Once on SQLite, once on PostgreSQL."""
    with monkeypatch.context() as older:
        older.setattr("lakeguard.state.migrating.SCHEMA_HEAD", "0012")
        older.setattr("lakeguard.state.migrating.create_views", lambda _: None)  # those of today
        database.migrate()
    with database.write() as connection:
        give(connection, "task_waits", "queued", 0)
        give(connection, "task_failed", "failed", 3)
    database.migrate()
    return database


def row(database: Database, task_id: str) -> dict[str, Any]:
    with database.read() as connection:
        found = connection.execute(select(tasks).where(tasks.c.task_id == task_id)).one()
        return dict(found._mapping)


def test_no_worker_takes_them_and_no_loop_tries_them_again(migrated: Database) -> None:
    made = make_queue(migrated)
    queue = replace(made, heart=replace(made.heart, org_id=ORG))
    assert queue.claim(limit=9) == ()
    assert queue.queue_retries() == []
    for task_id, attempt in (("task_waits", 0), ("task_failed", 3)):
        held = row(migrated, task_id)
        assert (held["due_at"], held["changes"], held["attempt"]) == (None, 0, attempt)
    assert not list(history_findings(migrated, ORG))


def test_who_knows_one_begins_it_and_its_changes_are_kept_from_there(migrated: Database) -> None:
    with migrated.write() as connection:
        claim(connection, ORG, "task_waits", ELSEWHERE, THEN, TaskKind.BUILD, LEASE)
    with migrated.read() as connection:
        (only,) = list_transitions(connection, ORG, "task_waits")
    assert (only.number, only.from_state, only.to_state) == (
        1,
        TaskState.QUEUED,
        TaskState.RUNNING,
    )
    with migrated.write() as connection:
        task = require_task(connection, ORG, "task_failed")
        with pytest.raises(NotRetryable, match="before there was"):
            retry_task(connection, task, "operator", "", THEN)


def test_the_guards_and_the_count_of_attempts_stand(migrated: Database) -> None:
    fixed = "UPDATE tasks SET priority = 9"
    for statement in (fixed, "DELETE FROM tasks", "UPDATE tasks SET attempt = -1"):
        with pytest.raises(IntegrityError), migrated.write() as connection:
            connection.execute(text(statement))
    with migrated.write() as connection:
        connection.execute(text("UPDATE tasks SET attempt = 4 WHERE task_id = 'task_failed'"))
    assert row(migrated, "task_failed")["attempt"] == 4

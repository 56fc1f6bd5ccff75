"""Tasks after the State is lost, and tasks that somebody changed by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text

from lakeguard.insight.verification.history import history_findings
from lakeguard.relay.attach import attach
from lakeguard.relay.rebuild import Rebuild
from lakeguard.relay.relay import Relay
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import tasks
from lakeguard_sdk.core.enums import TaskState
from tests.support.databases.databases import KINDS, discard, fresh_database
from tests.support.projects.queues import (
    BUSY,
    DONE,
    WRONG,
    Queue,
    job,
    make_queue,
)

LOST = {"lease_token", "lease_expires_at"}
"""What no ledger is told: who runs has to begin again."""


def with_every_state(database: Database) -> Queue:
    queue = make_queue(database, job("sweep", concurrency=100))
    queue.put("sweep", 7, attempts=2)
    reports = (DONE, BUSY, WRONG, BUSY)
    given = queue.claim(limit=6)
    for each, report in zip(given, reports, strict=False):
        queue.report(each.ticket, report)
    queue.cancel(given[4].ticket.task_id, "not needed")
    queue.clock.pass_time(31)
    dying = queue.queue_retries()
    for each in queue.claim(limit=10):
        if each.ticket.task_id == dying[0]:
            queue.report(each.ticket, BUSY)
    queue.put("sweep", due_in=500)
    return queue


def rows(database: Database, org_id: str) -> dict[str, dict[str, Any]]:
    with database.read() as connection:
        found = connection.execute(select(tasks).where(tasks.c.org_id == org_id))
        return {
            row.task_id: {k: v for k, v in row._mapping.items() if k not in LOST} for row in found
        }


@pytest.mark.parametrize("kind", KINDS)
def test_a_rebuilt_state_has_every_task_where_it_was(kind: str, tmp_path: Path) -> None:
    lost = fresh_database("sqlite", tmp_path)
    lost.migrate()
    queue = with_every_state(lost)
    org_id, before = queue.context.org_id, rows(lost, queue.context.org_id)
    assert {row["state"] for row in before.values()} >= {
        *(state.value for state in TaskState if state is not TaskState.BLOCKED)
    }
    lake = str(tmp_path / "lake")
    attach(OrganisationState.of(lost, org_id, queue.clock), lake)
    Relay(OrganisationState.of(lost, org_id, queue.clock), lake).drain()
    discard(lost)
    database = fresh_database(kind, tmp_path)
    Rebuild(OrganisationState.of(database, org_id, queue.clock), lake).run()
    assert rows(database, org_id) == before
    assert not list(history_findings(OrganisationState.of(database, org_id)))
    again = queue.of(database)
    running = {task_id for task_id, row in before.items() if row["state"] == "running"}
    assert set(again.reap()) == running, "nobody holds a ticket any more"
    discard(database)


@pytest.mark.parametrize(
    ("done", "given"),
    [
        ("UPDATE tasks SET state = 'completed' WHERE task_id = :task", "its last change"),
        ("UPDATE tasks SET changes = changes + 1 WHERE task_id = :task", "its last change"),
        (
            "INSERT INTO task_transitions (task_id, number, org_id, attempt, from_state, to_state,"
            " at, actor) VALUES (:task, 2, :org, 0, 'running', 'queued', '2026-01-01', 'x')",
            "does not follow",
        ),
        (
            "INSERT INTO task_transitions (task_id, number, org_id, attempt, from_state, to_state,"
            " at, actor) VALUES (:task, 3, :org, 0, 'queued', 'queued', '2026-01-01', 'x')",
            "its last change",
        ),
    ],
)
def test_a_task_that_does_not_stand_where_it_was_led_is_found(
    done: str, given: str, tmp_path: Path
) -> None:
    database = fresh_database("sqlite", tmp_path)
    database.migrate()
    queue = make_queue(database, job("sweep"))
    (task_id,) = queue.put("sweep")
    org_id = queue.context.org_id
    assert not list(history_findings(OrganisationState.of(database, org_id)))
    with database.write() as connection:
        connection.execute(text(done), {"task": task_id, "org": org_id})
    found = list(history_findings(OrganisationState.of(database, org_id)))
    assert any(given in each.message and task_id in each.place for each in found), found
    database.close()

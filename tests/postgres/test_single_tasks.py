"""Tasks claimed and reported one at a time: few statements, and the same rules."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Connection, event

from lakeguard.state.database import Database
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.errors import Fenced
from tests.support.projects.queues import DONE, Queue, job, make_queue


@pytest.fixture
def state(schema: Database) -> Database:
    schema.migrate()
    return schema


def test_a_task_is_claimed_by_two_statements_and_reported_by_one(state: Database) -> None:
    queue = make_queue(state, job("mop"))
    queue.put("mop", 3)
    warm(queue)
    statements: list[str] = []

    @event.listens_for(state.engine, "before_cursor_execute")
    def note(_connection: Connection, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    (given,) = queue.claim(limit=1)
    claimed = len(statements)
    queue.dispatch.report(given.ticket, DONE)
    assert (claimed, len(statements)) == (2, 3), statements
    assert queue.state(given.ticket.task_id) is TaskState.COMPLETED


def warm(queue: Queue) -> None:
    """Two tasks: later ones find the job's terms and the absence of event channels remembered."""
    for _ in range(2):
        (given,) = queue.claim(limit=1)
        queue.dispatch.report(given.ticket, DONE)


def test_a_report_finds_out_what_became_of_its_task_meanwhile(state: Database) -> None:
    """The task was claimed here, and canceled by somebody else."""
    queue = make_queue(state, job("mop"))
    queue.put("mop", 3)
    warm(queue)
    (given,) = queue.claim(limit=1)
    queue.cancel(given.ticket.task_id)
    with pytest.raises(Fenced, match="canceled"):
        queue.dispatch.report(given.ticket, DONE)
    assert queue.state(given.ticket.task_id) is TaskState.CANCELED


def test_single_claims_of_a_job_stay_within_its_concurrency(state: Database) -> None:
    queue = make_queue(state, job("mop", concurrency=2), job("next", concurrency=3))
    queue.put("mop", 9, priority=9)
    queue.put("next", 9)
    others = [queue.of(Database(state.url, state.schema)) for _ in range(8)]
    with ThreadPoolExecutor(len(others)) as pool:
        rounds = pool.map(lambda one: [*one.take(1), *one.take(1), *one.take(1)], others)
        taken = [each for given in rounds for each in given]
    for each in others:
        each.context.database.close()
    running = Counter(queue.task(task_id).job_id for task_id in taken)
    assert running == {queue.ids["mop"]: 2, queue.ids["next"]: 3}

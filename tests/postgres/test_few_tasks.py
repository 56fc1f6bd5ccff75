"""Tasks claimed and reported one or a few at a time: few statements, and the same rules."""

from __future__ import annotations

import re
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from sqlalchemy import text

from lakeguard.dispatch.claim_few import FEW_TASKS
from lakeguard.ledger.switches import switch_job
from lakeguard.services.ports.dispatch import EmbeddedDispatch
from lakeguard.state.database import Database
from lakeguard.state.locks import hold_all
from lakeguard_sdk.core.canonical_json import format_instant
from lakeguard_sdk.core.enums import TaskKind, TaskState
from lakeguard_sdk.errors import Fenced
from lakeguard_sdk.scheduling.tasks import TaskAnswer, TaskReport
from tests.support.projects.planes import ELSEWHERE
from tests.support.projects.queues import BUSY, DONE, WRONG, Queue, job, make_queue


@pytest.fixture
def state(schema: Database) -> Database:
    schema.migrate()
    return schema


@pytest.mark.parametrize("count", [1, FEW_TASKS])
def test_a_few_tasks_are_claimed_by_one_statement_and_reported_by_one(
    state: Database, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = make_queue(state, job("mop", concurrency=FEW_TASKS))
    queue.put("mop", 2 + count)
    warm(queue)
    statements: list[object] = []
    execute = psycopg.Cursor.execute

    def note(self: Any, statement: Any, *more: Any, **options: Any) -> Any:
        statements.append(statement)
        return execute(self, statement, *more, **options)

    monkeypatch.setattr(psycopg.Cursor, "execute", note)
    given = queue.claim(limit=count)
    claimed = len(statements)
    queue.dispatch.report_all([(each.ticket, DONE) for each in given])
    monkeypatch.undo()
    assert (len(given), claimed, len(statements)) == (count, 1, 2), statements
    assert {queue.state(each.ticket.task_id) for each in given} == {TaskState.COMPLETED}


@pytest.mark.parametrize("count", [1, FEW_TASKS])
def test_a_report_that_brings_the_next_tasks_is_one_statement(
    state: Database, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = make_queue(state, job("mop", concurrency=FEW_TASKS))
    queue.put("mop", 2 + 2 * count)
    warm(queue)
    given = queue.claim(limit=count)
    statements: list[object] = []
    execute = psycopg.Cursor.execute

    def note(self: Any, statement: Any, *more: Any, **options: Any) -> Any:
        statements.append(statement)
        return execute(self, statement, *more, **options)

    monkeypatch.setattr(psycopg.Cursor, "execute", note)
    reports = [(each.ticket, DONE) for each in given]
    _, following = queue.dispatch.report_and_claim(reports, ELSEWHERE)
    monkeypatch.undo()
    assert (len(given), len(following), len(statements)) == (count, count, 1), statements
    assert {queue.state(each.ticket.task_id) for each in given} == {TaskState.COMPLETED}
    assert {queue.state(each.ticket.task_id) for each in following} == {TaskState.RUNNING}


@pytest.mark.parametrize("report", [DONE, BUSY, WRONG], ids=["done", "busy", "wrong"])
def test_a_report_of_a_few_writes_what_a_report_of_many_writes(
    state: Database, report: TaskReport
) -> None:
    """Rows, and the JSON of the outbox to the byte; only the pause before a retry differs."""
    queue = make_queue(state, job("mop", concurrency=2))
    queue.put("mop", 2)
    warm(queue)
    launched, written = queue.clock(), []
    for port in (queue.dispatch, EmbeddedDispatch(queue.context)):
        queue.clock.now = launched
        (task_id,) = queue.put("mop")
        (given,) = queue.claim(limit=1)
        queue.clock.now = launched + timedelta(seconds=1)
        answer = port.report(given.ticket, report)
        due_at = queue.task(task_id).due_at
        own = {task_id: "TASK", given.ticket.run_id: "RUN", given.ticket.lease_token: "LEASE"}
        own |= {} if due_at is None else {repr(due_at): "DUE", format_instant(due_at): "DUE"}
        written.append((answer.state, rows_of(state, task_id, own)))
    assert written[0][0] == written[1][0]
    assert hashless(written[0][1]) == hashless(written[1][1])
    assert "task_results" in written[0][1]


def hashless(rows: str) -> str:
    """Report hashes are over ids."""
    return re.sub("sha256:[0-9a-f]{64}", "HASH", rows)


@pytest.mark.parametrize("of_a_job", [True, False])
def test_a_claim_of_a_few_writes_what_a_claim_of_many_writes(
    state: Database, of_a_job: bool
) -> None:
    """Rows, and the JSON of the outbox to the byte; the worker has a name that JSON escapes."""
    queue = make_queue(state, job("mop", concurrency=2))
    queue.put("mop", 2)
    warm(queue)
    launched = queue.clock()
    worker = ELSEWHERE.model_copy(update={"name": 'a "b" \\ \u00e9\n\u2028'})
    written = []
    for limit in (1, FEW_TASKS + 1):
        queue.clock.now = launched
        task_id = queue.put("mop")[0] if of_a_job else queue.put_without_job()
        queue.clock.now = launched + timedelta(seconds=1)
        (given,) = queue.claim(limit=limit, worker=worker)
        own = {task_id: "TASK", given.ticket.run_id: "RUN", given.ticket.lease_token: "LEASE"}
        written.append((given.model_dump() | {"ticket": None}, rows_of(state, task_id, own)))
    assert written[0] == written[1]
    assert "TASK" in written[0][1]


def rows_of(state: Database, task_id: str, names: dict[str, str]) -> str:
    """All that is recorded of a task, without its ids, key and times of launch."""
    asked = (
        "SELECT * FROM tasks WHERE task_id = :task",
        "SELECT * FROM task_attempts WHERE task_id = :task",
        "SELECT * FROM task_transitions WHERE task_id = :task ORDER BY number",
        "SELECT * FROM task_results WHERE task_id = :task",
        "SELECT org_id, topic, payload, created_at FROM outbox WHERE payload LIKE :some"
        " AND topic <> 'tasks' ORDER BY outbox_id",
    )
    with state.engine.connect() as connection:
        found = [
            [{**row, "dedupe_key": ""} for row in connection.execute(text(each), values).mappings()]
            for each, values in zip(
                asked, [{"task": task_id}] * 4 + [{"some": f"%{task_id}%"}], strict=True
            )
        ]
    shown = repr(found)
    for value, name in names.items():
        shown = shown.replace(value, name)
    return shown


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


def test_reports_of_a_few_are_all_recorded_or_judged_one_by_one(state: Database) -> None:
    queue = make_queue(state, job("mop", concurrency=5))
    queue.put("mop", 5)
    warm(queue)
    given = queue.claim(limit=3)
    queue.cancel(given[1].ticket.task_id)
    answers = queue.dispatch.report_all([(each.ticket, DONE) for each in given])
    assert [queue.state(each.ticket.task_id) for each in given] == [
        TaskState.COMPLETED,
        TaskState.CANCELED,
        TaskState.COMPLETED,
    ]
    assert [isinstance(answer, TaskAnswer) for answer in answers] == [True, False, True]


def test_a_claim_of_a_few_looks_beyond_a_full_job(state: Database) -> None:
    queue = make_queue(state, job("mop", concurrency=2), job("next", concurrency=9))
    queue.put("mop", 2)
    queue.put("next", 1, priority=-1)
    warm(queue)
    first, second = queue.put("mop", 4)[:2], queue.put("next", 3, priority=-1)
    (known,) = queue.claim(limit=1)
    queue.dispatch.report(known.ticket, DONE)
    taken = queue.take(6)
    running = Counter(queue.task(task_id).job_id for task_id in taken)
    assert running == {queue.ids["mop"]: 2, queue.ids["next"]: len(second) + 1}
    assert taken[0] == first[1]


def test_a_report_after_a_hand_over_leaves_the_task_as_that_made_it(state: Database) -> None:
    queue = make_queue(state, job("mop"))
    queue.put("mop", 2)
    warm(queue)
    queue.put("mop", kind=TaskKind.HTTP)
    (given,) = queue.claim(limit=1)
    queue.dispatch.hand_over(given.ticket)
    handed = queue.task(given.ticket.task_id)
    queue.dispatch.report(given.ticket, DONE)
    after = queue.task(given.ticket.task_id)
    assert (after.state, after.worker) == (TaskState.COMPLETED, handed.worker)


def test_a_session_that_was_lost_before_a_report_does_not_matter(state: Database) -> None:
    queue = make_queue(state, job("mop"))
    queue.put("mop", 3)
    warm(queue)
    (given,) = queue.claim(limit=1)
    other = Database(state.url, state.schema)
    with other.engine.begin() as connection:
        ended = connection.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND datname = current_database()"
            )
        ).all()
    other.close()
    assert ended
    assert queue.dispatch.report(given.ticket, DONE).state is TaskState.COMPLETED


def test_a_job_that_was_switched_off_while_a_claim_waited_starts_nothing(state: Database) -> None:
    queue = make_queue(state, job("mop", concurrency=5))
    queue.put("mop", 4)
    warm(queue)
    other = queue.of(Database(state.url, state.schema))
    with ThreadPoolExecutor(1) as pool:
        with queue.context.write() as tx:
            hold_all(tx, [f"job:{queue.context.org_id}:{queue.ids['mop']}"])
            waiting = pool.submit(other.take, 1)
            wait_for_lock(state)
            switch_job(tx, queue.ids["mop"], enabled=False, reason="")
        assert waiting.result(30) == []
    other.context.database.close()


@pytest.mark.parametrize("claimed_here", [True, False])
def test_a_report_does_not_wait_for_another_claim(state: Database, claimed_here: bool) -> None:
    """Whoever holds the job may hang."""
    queue = make_queue(state, job("mop", concurrency=5))
    queue.put("mop", 4)
    warm(queue)
    (given,) = queue.claim(limit=1)
    port = queue.dispatch if claimed_here else EmbeddedDispatch(queue.context)
    with queue.context.write() as tx, ThreadPoolExecutor(1) as pool:
        hold_all(tx, [f"job:{queue.context.org_id}:{queue.ids['mop']}"])
        called = pool.submit(port.report_and_claim, [(given.ticket, DONE)], ELSEWHERE)
        (answer,), following = called.result(20)
    assert isinstance(answer, TaskAnswer)
    assert following == ()
    assert len(queue.claim(limit=1)) == 1


def wait_for_lock(state: Database) -> None:
    with state.engine.connect() as connection:
        asked = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        for _ in range(1_000):
            if connection.scalar(text(asked)):
                return
            connection.rollback()
            time.sleep(0.01)
    raise AssertionError("nobody waits")


@pytest.mark.parametrize("limit", [1, 3])
def test_claims_of_a_job_stay_within_its_concurrency(state: Database, limit: int) -> None:
    queue = make_queue(state, job("mop", concurrency=2), job("next", concurrency=3))
    queue.put("mop", 9, priority=9)
    queue.put("next", 9)
    others = [queue.of(Database(state.url, state.schema)) for _ in range(8)]
    with ThreadPoolExecutor(len(others)) as pool:
        rounds = pool.map(
            lambda one: [*one.take(limit), *one.take(limit), *one.take(limit)], others
        )
        taken = [each for given in rounds for each in given]
    for each in others:
        each.context.database.close()
    running = Counter(queue.task(task_id).job_id for task_id in taken)
    assert running == {queue.ids["mop"]: 2, queue.ids["next"]: 3}

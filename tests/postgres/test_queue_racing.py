"""The queue with many workers at once, on a server that ends sessions and refuses transactions."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from sqlalchemy import Connection, event, func, select, text

from lakeguard.dispatch.claim import begin_by_hand, claim_due
from lakeguard.insight.verification.history import history_findings
from lakeguard.state.clock import ServerClock, ticks
from lakeguard.state.database import Database, transact
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import task_attempts, task_results, tasks
from lakeguard_sdk.core.enums import TaskKind, TaskState
from lakeguard_sdk.errors import StateCommitUnknown, StateUnavailable
from tests.support.databases.databases import Server
from tests.support.projects.planes import ELSEWHERE
from tests.support.projects.queues import (
    DONE,
    Queue,
    job,
    make_queue,
)

WORKERS = 8


@pytest.fixture
def state(schema: Database) -> Database:
    schema.migrate()
    return schema


@pytest.fixture
def connected(state: Database) -> Iterator[Callable[[], Database]]:
    """More of the same State, each with connections of its own, as processes have them."""
    made: list[Database] = []

    def another() -> Database:
        made.append(Database(state.url, state.schema))
        return made[-1]

    yield another
    for database in made:
        database.close()


def work_off(queue: Queue, batch: int, watch: Callable[[], None] = lambda: None) -> list[str]:
    """A worker that goes on until nothing is left to take for a while; the ids that it did."""
    done, idle = [], 0
    while idle < 20:
        try:
            given = queue.claim(limit=batch)
            watch()
            queue.dispatch.report_all([(each.ticket, DONE) for each in given])
        except StateUnavailable:
            continue
        done += [each.ticket.task_id for each in given]
        idle = 0 if given else idle + 1
        time.sleep(0 if given else 0.01)
    return done


def completed(queue: Queue) -> int:
    with queue.context.read() as tx:
        count = select(func.count()).select_from(tasks)
        count = count.where(tasks.c.org_id == queue.context.org_id)
        return tx.scalars(count.where(tasks.c.state == "completed")).one()


def test_each_task_goes_to_one_of_many_workers(
    state: Database, connected: Callable[[], Database]
) -> None:
    queue = make_queue(state, job("sweep", concurrency=1000), job("mop", concurrency=1000))
    put = [*queue.put("sweep", 150), *queue.put("mop", 150)]
    queues = [queue.of(connected()) for _ in range(WORKERS)]
    with ThreadPoolExecutor(WORKERS) as pool:
        done = [task_id for each in pool.map(lambda q: work_off(q, 7), queues) for task_id in each]
    assert Counter(done) == Counter(put)
    assert completed(queue) == len(put)
    assert not list(history_findings(OrganisationState.of(state, queue.context.org_id)))


def test_no_more_than_the_limit_of_a_job_ever_runs(
    state: Database, connected: Callable[[], Database]
) -> None:
    limit = 3
    queue = make_queue(state, job("mop", concurrency=limit))
    put = queue.put("mop", 60)
    seen: list[int] = []
    running = select(func.count()).select_from(tasks)
    running = running.where(tasks.c.state == TaskState.RUNNING.value)

    def watch() -> None:
        with state.read() as connection:
            seen.append(connection.scalars(running).one())

    queues = [queue.of(connected()) for _ in range(WORKERS)]
    with ThreadPoolExecutor(WORKERS) as pool:
        done = sum(pool.map(lambda q: len(work_off(q, 2, watch)), queues))
    assert done == len(put)
    assert limit - 1 <= max(seen) <= limit


def test_what_another_takes_at_the_moment_is_passed_over(
    state: Database, connected: Callable[[], Database]
) -> None:
    """Also where both have to look past the head of the queue."""
    full = [job("full_1"), job("full_2")]
    queue = make_queue(state, *full, job("next", concurrency=9), job("last"))
    for each in full:
        queue.put(each.job, 2, priority=9)
    assert len(queue.take(4)) == 2
    upper, (lower,) = queue.put("next", 2, priority=1), queue.put("last")
    context, other = queue.context, queue.of(connected())
    with OrganisationState.of(state, context.org_id, queue.clock).write() as tx:
        (given,) = claim_due(
            tx, ELSEWHERE, limit=1, labels=frozenset(), rules=context.dispatch
        ).assignments
        assert given.ticket.task_id == upper[0]
        assert other.take(1) == [lower]
    assert other.take(1) == upper[1:]


def test_who_begins_a_build_by_its_id_is_counted_by_all_who_come_later(
    state: Database, connected: Callable[[], Database]
) -> None:
    """Nobody counts the attempts of the job while one begins."""
    queue = make_queue(state, job("mop"))
    by_hand, _ = queue.put("mop", 2, kind=TaskKind.BUILD)
    context, other = queue.context, queue.of(connected())
    with ThreadPoolExecutor(1) as pool:
        with OrganisationState.of(state, context.org_id, queue.clock).write() as tx:
            lease = context.dispatch.lease
            begin_by_hand(tx, by_hand, ELSEWHERE, lease)
            taken = pool.submit(other.take, 2)
            with pytest.raises(TimeoutError):
                taken.result(0.3)
        assert taken.result(30) == []


def refuse_some(database: Database, share: float, luck: random.Random) -> None:
    """The server itself throws away transactions, at any of their statements or at their ends."""

    def before(connection: Connection, _cursor: object, statement: str, *_more: object) -> None:
        if statement.startswith(("INSERT", "UPDATE", "SELECT tasks")) and luck.random() < share:
            code = luck.choice(["40001", "40P01"])
            connection.exec_driver_sql(f"DO $$ BEGIN RAISE SQLSTATE '{code}'; END $$")

    event.listen(database.engine, "before_cursor_execute", before)


def test_transactions_that_are_thrown_away_are_done_again(
    state: Database, connected: Callable[[], Database]
) -> None:
    """About one in five: a claim and a report have eight such statements each."""
    queue = make_queue(state, job("sweep", concurrency=1000))
    put = queue.put("sweep", 60)
    queues = [queue.of(connected()) for _ in range(4)]
    for number, each in enumerate(queues):
        refuse_some(each.context.database, 0.03, random.Random(number))
    with ThreadPoolExecutor(4) as pool:
        done = [task_id for each in pool.map(lambda q: work_off(q, 3), queues) for task_id in each]
    assert Counter(done) == Counter(put), "nothing lost, nothing doubled"
    with state.read() as connection:
        for table in (task_attempts, task_results):
            assert connection.scalars(select(func.count()).select_from(table)).one() == len(put)
    assert not list(history_findings(OrganisationState.of(state, queue.context.org_id)))


def test_what_is_always_thrown_away_is_given_up_in_the_end(state: Database) -> None:
    calls: list[int] = []

    def work(connection: Connection) -> None:
        calls.append(1)
        connection.execute(text("DO $$ BEGIN RAISE SQLSTATE '40001'; END $$"))

    with pytest.raises(StateUnavailable):
        state.transact(work)
    assert len(calls) == 8


def test_what_may_have_been_committed_is_not_done_again(state: Database, server: Server) -> None:
    calls: list[int] = []

    def end_session(connection: Connection) -> None:
        pid = connection.connection.driver_connection.info.backend_pid  # type: ignore[union-attr]
        server.sql(f"SELECT pg_terminate_backend({pid})")

    def work(connection: Connection) -> None:
        calls.append(connection.scalars(select(func.pg_backend_pid())).one())

    event.listen(state.engine, "commit", end_session)
    try:
        with pytest.raises(StateCommitUnknown):
            state.transact(work)
        with pytest.raises(StateCommitUnknown), state.write() as connection:
            work(connection)
    finally:
        event.remove(state.engine, "commit", end_session)
    assert len(calls) == 2


def test_a_session_that_is_ended_before_its_commit_is_made_anew(
    state: Database, server: Server
) -> None:
    pids: list[int] = []

    def work(connection: Connection) -> int:
        pid = connection.scalars(select(func.pg_backend_pid())).one()
        pids.append(pid)
        if len(pids) == 1:
            server.sql(f"SELECT pg_terminate_backend({pid})")
        return connection.scalars(select(func.count()).select_from(tasks)).one()

    assert state.transact(work) == 0
    assert len(set(pids)) == 2


def test_workers_go_on_when_all_sessions_are_ended(
    state: Database, server: Server, connected: Callable[[], Database]
) -> None:
    queue = make_queue(state, job("sweep", concurrency=1000))
    put = queue.put("sweep", 80)
    queues = [queue.of(connected()) for _ in range(3)]
    over = threading.Event()

    def end_sessions() -> None:
        while not over.wait(0.05):
            server.sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name = 'lakeguard' AND pid <> pg_backend_pid()"
            )

    ending = threading.Thread(target=end_sessions)
    ending.start()
    with ThreadPoolExecutor(3) as pool:
        futures = [pool.submit(work_off, each, 4) for each in queues]
        time.sleep(0.6)
        over.set()
        ending.join()
        for each in futures:
            each.result()
    left = counted_states(queue)
    assert sum(left.values()) == len(put)
    assert set(left) <= {TaskState.RUNNING, TaskState.COMPLETED}, "a lost reply is a lost lease"
    queue.clock.pass_time(121)
    queue.reap()
    queue.clock.pass_time(600)
    queue.queue_retries()
    work_off(queue, 10)
    assert counted_states(queue) == {TaskState.COMPLETED: len(put)}
    assert not list(history_findings(OrganisationState.of(state, queue.context.org_id)))


def counted_states(queue: Queue) -> dict[TaskState, int]:
    counted = select(tasks.c.state, func.count()).group_by(tasks.c.state)
    with queue.context.read() as tx:
        return {TaskState(state): count for state, count in tx.execute(counted)}


def test_who_finds_no_connection_is_told_to_come_again(state: Database) -> None:
    queue = make_queue(state, job("sweep"))
    queue.put("sweep")
    state.engine.pool._timeout = 0.05  # type: ignore[attr-defined]
    held = [state.engine.connect() for _ in range(15)]
    with pytest.raises(StateUnavailable) as reported:
        queue.claim()
    assert reported.value.retryable
    for connection in held:
        connection.close()
    assert len(queue.take()) == 1


def test_ticks_that_began_apart_tell_the_same_time(state: Database) -> None:
    """One machine has been up for ten minutes longer than the other."""
    ahead = ServerClock(state.engine, lambda: time.monotonic() + 300)
    behind = ServerClock(state.engine, lambda: time.monotonic() - 300)
    before = server_time(state)
    first, *moments = behind(), *(ahead() for _ in range(5)), behind()
    after = server_time(state)
    unsure = after - before  # no question took longer, so that no answer is further off
    assert before - unsure <= first <= moments[-1] <= after + unsure
    assert all(one <= two for one, two in pairwise(moments[:-1]))
    assert before - unsure <= moments[0] <= moments[-2] <= after + unsure


def server_time(state: Database) -> datetime:
    with state.read() as connection:
        return connection.scalars(select(func.clock_timestamp())).one()


def test_the_server_is_asked_again_now_and_then(schema: Database) -> None:
    ticks = [1000.0]
    clock = ServerClock(schema.engine, lambda: ticks[0])
    first = clock()
    ticks[0] += 20
    assert clock() - first == timedelta(seconds=20)
    ticks[0] += 20
    assert clock() - first < timedelta(seconds=20), "the answer counts, and not the ticks"


def test_the_clock_goes_on_while_the_server_cannot_be_asked(schema: Database) -> None:
    ticks = [1000.0]
    clock = ServerClock(schema.engine, lambda: ticks[0])
    first = clock()
    schema.engine.pool._timeout = 0.05  # type: ignore[attr-defined]
    held = [schema.engine.connect() for _ in range(15)]
    ticks[0] += 60
    assert clock() - first == timedelta(seconds=60)
    for connection in held:
        connection.close()


def test_the_clock_answers_who_holds_the_last_connection(schema: Database) -> None:
    """Whoever asks it holds a transaction, and waits for nobody who does so too."""
    schema.engine.pool._timeout = 0.05  # type: ignore[attr-defined]
    held = [schema.engine.connect() for _ in range(15)]
    assert schema.clock() <= schema.clock()
    for connection in held:
        connection.close()


def test_many_who_know_no_time_yet_ask_once(schema: Database) -> None:
    clock, together, asked = ServerClock(schema.engine), threading.Barrier(WORKERS), []
    event.listen(
        schema.engine,
        "after_cursor_execute",
        lambda _connection, _cursor, statement, *_: asked.append("clock_timestamp" in statement),
    )

    def ask(_number: int) -> None:
        together.wait(30)
        clock()

    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(ask, range(WORKERS)))
    assert sum(asked) == 1


def test_ticks_are_there_on_every_system(monkeypatch: pytest.MonkeyPatch) -> None:
    before = ticks()
    assert ticks() >= before
    monkeypatch.delattr(time, "CLOCK_BOOTTIME")
    before = ticks()
    assert before <= ticks() < before + 60


def test_a_file_goes_by_the_clock_of_its_machine(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/state.db")
    before = time.time()
    assert before <= database.clock().timestamp() <= time.time()


def test_pauses_between_are_short(state: Database) -> None:
    slept: list[float] = []

    def work(connection: Connection) -> None:
        if len(slept) < 5:
            connection.execute(text("DO $$ BEGIN RAISE SQLSTATE '40P01'; END $$"))

    transact(state.engine, work, slept.append)
    assert len(slept) == 5
    assert sum(slept) < 0.2

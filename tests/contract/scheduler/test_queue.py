"""The queue, on each kind of State: what is due goes to one worker, and ends in one way."""

from __future__ import annotations

import pytest
from sqlalchemy import event

from lakeguard.dispatch.tasks import ticket_of
from lakeguard.services.ports.dispatch import EmbeddedDispatch
from lakeguard.state.database import Database
from lakeguard_sdk.core.enums import TaskKind, TaskState
from lakeguard_sdk.errors import Fenced, NotCancelable, NotRetryable, TaskCanceled, UnknownTask
from lakeguard_sdk.model.run import Failure
from lakeguard_sdk.scheduling.tasks import RefusedTask, TaskAnswer
from tests.support.projects.planes import ELSEWHERE
from tests.support.projects.queues import (
    BUSY,
    DONE,
    WRONG,
    Queue,
    job,
    make_queue,
)

QUEUED, RUNNING, FAILED = TaskState.QUEUED, TaskState.RUNNING, TaskState.FAILED


@pytest.fixture
def queue(state: Database) -> Queue:
    return make_queue(state, job("sweep", concurrency=100), job("mop", concurrency=2))


def test_a_task_goes_to_one_worker_with_all_that_it_may_know(state: Database) -> None:
    queue = make_queue(state, job("sweep", outputs="dust", timeout="90s"))
    (task_id,) = queue.put("sweep", parameters='{"day": "2026-01-31", "set": {"room": "hall"}}')
    (given,) = queue.claim(limit=5)
    assert given.ticket.task_id == task_id
    assert (given.kind, given.job, given.dataset) == (TaskKind.PYTHON, "sweep", None)
    assert (given.call, given.outputs, given.timeout_seconds) == ("jobs:main", ("dust",), 90)
    assert given.parameters == {"date": "2026-01-31", "room": "hall"}
    assert queue.take(5) == []
    assert queue.task(task_id).worker == ELSEWHERE


def test_the_most_urgent_come_first_then_those_that_wait_longest(queue: Queue) -> None:
    late, low = queue.put("sweep", due_in=-1)[0], queue.put("sweep", priority=-5)[0]
    old, high = queue.put("sweep", due_in=-60)[0], queue.put("sweep", priority=9)[0]
    queue.clock.pass_time(1)
    assert queue.take(3) == [high, old, late]
    assert queue.take(3) == [low]


def test_what_is_not_due_waits(queue: Queue) -> None:
    (task_id,) = queue.put("sweep", due_in=60)
    assert queue.take() == []
    queue.clock.pass_time(61)
    assert queue.take() == [task_id]


def test_a_worker_needs_every_label(queue: Queue) -> None:
    both, gpu = (queue.put("sweep", labels=x)[0] for x in (("gpu", "eu"), ("gpu",)))
    assert queue.take(9) == []
    assert queue.take(9, labels=["eu", "us"]) == []
    assert queue.take(9, labels=["gpu"]) == [gpu]
    assert queue.take(9, labels=["us", "gpu", "eu"]) == [both]


def test_urgency_counts_across_labels(queue: Queue) -> None:
    plain = queue.put("sweep", priority=1)[0]
    gpu, urgent = (queue.put("sweep", labels=["gpu"], priority=p)[0] for p in (0, 2))
    assert queue.take(2, labels=["gpu"]) == [urgent, plain]
    assert queue.take(2, labels=["gpu"]) == [gpu]


def test_a_job_has_no_more_attempts_than_it_allows(queue: Queue) -> None:
    mops = queue.put("mop", 3, priority=5)
    first = queue.claim(limit=3)
    assert [each.ticket.task_id for each in first] == mops[:2]
    assert queue.take(3) == []
    queue.report(first[0].ticket)
    assert queue.take(3) == mops[2:]


def test_a_job_that_is_full_holds_up_no_other(queue: Queue) -> None:
    """Though it fills the head of the queue."""
    mops, (sweep,) = queue.put("mop", 20, priority=5), queue.put("sweep")
    assert queue.take(4) == [*mops[:2], sweep]


@pytest.mark.parametrize("limit", [1, 2, 4])
def test_many_jobs_that_are_full_hold_up_no_other(state: Database, limit: int) -> None:
    """Though each of them fills the head of the queue, and the free one is the last of all."""
    full = [f"full_{number}" for number in range(4)]
    queue = make_queue(state, *map(job, full), job("free"))
    for number, name in enumerate(full):
        queue.put(name, 5, priority=9 - number)
    assert len(queue.take(50)) == len(full)
    (free,) = queue.put("free", priority=-1)
    assert queue.take(limit) == [free]
    assert queue.take(limit) == []


def test_a_task_of_no_job_waits_behind_no_full_one(queue: Queue) -> None:
    queue.put("mop", 5, priority=2)
    assert len(queue.take(2)) == 2
    alone = queue.put_without_job()
    assert queue.take(1) == [alone]


def test_the_most_urgent_of_the_free_jobs_come_first(state: Database) -> None:
    names = [f"free_{number}" for number in range(12)]
    queue = make_queue(state, job("full"), *(job(name, concurrency=2) for name in names))
    queue.put("full", 9, priority=99)
    queue.take(1)
    put = {name: queue.put(name, 3, priority=number)[:2] for number, name in enumerate(names)}
    alone = queue.put_without_job(priority=11)
    assert queue.take(5) == [*put["free_11"], alone, *put["free_10"]]


def test_a_job_that_is_off_holds_up_no_other(queue: Queue) -> None:
    queue.put("mop", 5, priority=2)
    queue.define(job("mop").model_copy(update={"active": False}), job("sweep"))
    (sweep,) = queue.put("sweep")
    assert queue.take(1) == [sweep]


def test_a_changed_limit_counts_from_the_next_claim(queue: Queue) -> None:
    mops = queue.put("mop", 5)
    assert queue.take(5) == mops[:2]
    queue.define(job("mop", concurrency=4))
    assert queue.take(5) == mops[2:4]


def test_a_job_that_was_switched_off_meanwhile_begins_nothing(queue: Queue) -> None:
    (task_id,) = queue.put("sweep")
    queue.define(job("sweep").model_copy(update={"active": False}))
    assert queue.take() == []
    last = queue.transitions(task_id)[-1]
    assert (last.to_state, last.code, last.attempt) == (TaskState.BLOCKED, "LG-3321", 0)
    assert "sweep" in (last.message or "")


def test_whoever_claims_hears_of_each_refusal_once(queue: Queue) -> None:
    """Also by its id, and beside what he is given."""
    off = queue.put("sweep", 2, priority=2)
    (mop,) = queue.put("mop")
    queue.define(job("sweep").model_copy(update={"active": False}))
    heard: list[RefusedTask] = []
    (given,) = queue.dispatch.claim(ELSEWHERE, limit=3, refused=heard.append)
    assert given.ticket.task_id == mop
    assert [each.task_id for each in heard] == off
    assert {(each.job, each.kind, each.error.code) for each in heard} == {
        ("sweep", TaskKind.PYTHON, "LG-3321")
    }
    assert [queue.transitions(each.task_id)[-1].message for each in heard] == [
        each.error.message for each in heard
    ]
    assert queue.dispatch.claim(ELSEWHERE, limit=3, refused=heard.append) == ()
    assert len(heard) == 2
    (named,) = queue.put("sweep")
    assert queue.dispatch.claim(ELSEWHERE, only=named, refused=heard.append) == ()
    assert [each.task_id for each in heard] == [*off, named]


def test_reports_beyond_one_set_are_committed_set_by_set(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So whoever reports many waits for nobody while he holds those that he has reported."""
    queue.put("sweep", 6)
    tickets = [each.ticket for each in reversed(queue.claim(limit=6))]
    monkeypatch.setattr("lakeguard.services.ports.dispatch._AT_ONCE", 2)
    commits: list[object] = []
    count, engine = lambda connection: commits.append(connection), queue.context.database.engine
    event.listen(engine, "commit", count)
    other = EmbeddedDispatch(queue.context)  # which did not claim them
    answers = other.report_all([(ticket, DONE) for ticket in tickets])
    event.remove(engine, "commit", count)
    assert len(commits) == 3
    assert [each.run_id for each in answers if isinstance(each, TaskAnswer)] == [
        ticket.run_id for ticket in tickets
    ]


def test_a_failure_that_may_pass_is_tried_again_later_each_time(queue: Queue) -> None:
    (task_id,) = queue.put("sweep", attempts=3)
    pauses = []
    for attempt in (1, 2):
        (given,) = queue.claim()
        assert given.ticket.attempt == attempt
        assert queue.report(given.ticket, BUSY).state is FAILED
        due_at = queue.task(task_id).due_at
        assert due_at is not None
        pauses.append((due_at - queue.clock.now).total_seconds())
        assert queue.queue_retries() == []
        queue.clock.pass_time(pauses[-1])
        assert queue.queue_retries() == [task_id]
    assert 15 <= pauses[0] <= 30 <= pauses[1] <= 60


def test_a_clock_that_was_ahead_delays_no_task(queue: Queue) -> None:
    day = 86_400
    queue.clock.pass_time(day)
    (task_id,) = queue.put("sweep", attempts=3)
    queue.clock.pass_time(-day)
    (given,) = queue.claim()
    assert given.ticket.task_id == task_id, "it was queued, whatever its time"
    queue.clock.pass_time(day)
    queue.dispatch.keep([given.ticket])
    assert queue.report(given.ticket, BUSY).state is FAILED
    queue.clock.pass_time(-day)
    longest = queue.context.dispatch.backoff_longest_seconds
    due_at = queue.task(task_id).due_at
    assert due_at is not None
    assert (due_at - queue.clock.now).total_seconds() > longest
    assert queue.queue_retries() == [task_id]
    assert queue.take() == [task_id]


def test_what_fails_too_often_is_dead_and_others_go_on(queue: Queue) -> None:
    poison, other = queue.put("sweep", attempts=2, priority=9)[0], queue.put("sweep")[0]
    for _ in range(2):
        (given,) = queue.claim()
        assert given.ticket.task_id == poison
        queue.clock.pass_time(121)
        assert queue.reap() == [poison]
        queue.clock.pass_time(600)
        queue.queue_retries()
    assert queue.state(poison) is TaskState.DEAD
    assert queue.take(5) == [other]
    codes = [each.code for each in queue.transitions(poison) if each.to_state is not QUEUED]
    assert codes == [None, "LG-4003", None, "LG-4003"]


def test_a_failure_that_stays_is_not_tried_again(queue: Queue) -> None:
    (task_id,) = queue.put("sweep")
    queue.report(queue.claim()[0].ticket, WRONG)
    queue.clock.pass_time(10_000)
    assert queue.queue_retries() == []
    assert (queue.state(task_id), queue.task(task_id).due_at) == (FAILED, None)


def test_a_person_tries_anything_again_that_ended_ill(queue: Queue) -> None:
    failed, dead, canceled = queue.put("sweep", 3, attempts=1)
    reports = {failed: WRONG, dead: BUSY}
    for given in queue.claim(limit=3):
        if given.ticket.task_id in reports:
            queue.report(given.ticket, reports[given.ticket.task_id])
    queue.cancel(canceled)
    assert [queue.state(each) for each in (failed, dead, canceled)] == [
        FAILED,
        TaskState.DEAD,
        TaskState.CANCELED,
    ]
    for task_id in (failed, dead, canceled):
        assert queue.retry(task_id, "again").state is QUEUED
    again = queue.claim(limit=3)
    assert {each.ticket.attempt for each in again} == {2}, "one more than it has by itself"
    assert queue.report(again[0].ticket, BUSY).state is TaskState.DEAD
    assert queue.transitions(failed)[3].message == "again"


def test_what_waits_runs_or_is_done_is_not_tried_again(queue: Queue) -> None:
    (task_id,) = queue.put("sweep")
    for act in (lambda: None, queue.claim, lambda: queue.report(ticket_of(queue.task(task_id)))):
        act()
        with pytest.raises(NotRetryable):
            queue.retry(task_id)
    with pytest.raises(NotCancelable):
        queue.cancel(task_id)
    assert queue.state(task_id) is TaskState.COMPLETED


def test_canceling_withdraws_what_waits_and_fences_what_runs(queue: Queue) -> None:
    waits, runs = queue.put("sweep", 2)
    queue.cancel(waits, "not needed")
    (given,) = queue.claim(limit=5)
    assert given.ticket.task_id == runs
    queue.cancel(runs)
    queue.cancel(runs)
    with pytest.raises(Fenced):
        queue.report(given.ticket)
    assert queue.dispatch.keep([given.ticket]) == {}
    assert queue.path(waits) == [QUEUED, TaskState.CANCELED]
    assert queue.path(runs) == [QUEUED, RUNNING, TaskState.CANCELED]
    last = queue.transitions(waits)[-1]
    assert (last.actor, last.code, last.message) == ("operator", TaskCanceled.code, "not needed")


def test_a_failed_task_that_would_be_tried_again_can_be_canceled(queue: Queue) -> None:
    (task_id,) = queue.put("sweep")
    queue.report(queue.claim()[0].ticket, BUSY)
    queue.cancel(task_id)
    queue.clock.pass_time(600)
    assert queue.queue_retries() == []


def test_other_organisations_see_nothing(queue: Queue, state: Database) -> None:
    (task_id,) = queue.put("sweep")
    ticket = queue.claim()[0].ticket
    queue.put("sweep")
    other = make_queue(state, job("sweep"))
    other.ids = queue.ids
    assert other.claim(limit=9) == ()
    assert other.dispatch.keep([ticket]) == {}
    assert (other.reap(), other.queue_retries()) == ([], [])
    for look in (other.task, other.transitions, other.cancel, other.retry):
        with pytest.raises(UnknownTask):
            look(task_id)
    with pytest.raises(Exception, match=r"does not exist"):
        other.report(ticket)
    (refused,) = other.dispatch.report_all([(ticket, DONE)])
    assert isinstance(refused, Failure)
    assert queue.state(task_id) is RUNNING


def test_none_is_asked_for_and_none_is_given(queue: Queue) -> None:
    queue.put("sweep")
    assert queue.claim(limit=0) == ()
    assert queue.dispatch.keep([]) == {}

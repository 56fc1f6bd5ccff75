"""Leases, on each kind of State: who is heard of keeps a task, and nobody else ends it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from lakeguard.services.ports.dispatch import EmbeddedDispatch
from lakeguard.state.database import Database
from lakeguard_sdk.core.enums import TaskKind, TaskState
from lakeguard_sdk.errors import Fenced, NotHandedOver, ReportOverdue
from lakeguard_sdk.model.run import WorkerIdentity
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.projects.planes import ELSEWHERE
from tests.support.projects.queues import (
    DONE,
    Queue,
    job,
    make_queue,
)
from tests.support.projects.triggered_jobs import counted_statements

RUNNING, FAILED = TaskState.RUNNING, TaskState.FAILED


@pytest.fixture
def queue(state: Database) -> Queue:
    return make_queue(state, job("sweep", concurrency=100))


def test_leases_are_kept_until_they_are_over(queue: Queue) -> None:
    kept, lost = queue.put("sweep", 2)
    one, two = (each.ticket for each in queue.claim(limit=2))
    queue.clock.pass_time(100)
    assert queue.dispatch.keep([one]) == {one.run_id: 120}
    queue.clock.pass_time(100)
    assert set(queue.dispatch.keep([one, two])) == {one.run_id}, "no lease is revived"
    assert queue.reap() == [lost]
    assert queue.state(kept) is RUNNING
    with pytest.raises(Fenced):
        queue.report(two)


def test_a_stale_ticket_does_nothing(queue: Queue) -> None:
    (task_id,) = queue.put("sweep")
    stale = queue.claim()[0].ticket
    queue.clock.pass_time(121)
    queue.reap()
    queue.clock.pass_time(600)
    queue.queue_retries()
    fresh = queue.claim()[0].ticket
    assert queue.dispatch.keep([stale]) == {}
    for act in (queue.dispatch.hand_over, queue.report):
        with pytest.raises(Fenced):
            act(stale)
    forged = fresh.model_copy(update={"lease_token": stale.lease_token})
    with pytest.raises(Fenced):
        queue.report(forged)
    assert queue.report(fresh, DONE).attempt == 2
    assert queue.state(task_id) is TaskState.COMPLETED


def test_the_death_of_a_process_here_is_noticed_before_its_lease_is_over(queue: Queue) -> None:
    (task_id,) = queue.put("sweep")
    gone = this_process("worker").model_copy(update={"pid": 2**22 + 1})
    queue.claim(worker=gone)
    assert queue.reap() == [task_id]


def test_who_goes_on_outside_has_the_time_of_the_job(state: Database) -> None:
    queue = make_queue(state, job("sweep", timeout="30m"))
    (task_id,) = queue.put("sweep", kind=TaskKind.HTTP)
    here: WorkerIdentity = this_process("worker").model_copy(update={"pid": 2**22 + 1})
    ticket = queue.claim(worker=here)[0].ticket
    queue.dispatch.hand_over(ticket)
    queue.clock.pass_time(1700)
    assert queue.reap() == [], "neither its process here nor its lease counts any more"
    left = queue.dispatch.keep([ticket])
    assert left == {ticket.run_id: pytest.approx(100, abs=1)}, "asking makes it no longer"
    queue.clock.pass_time(101)
    assert queue.dispatch.keep([ticket]) == {}
    assert queue.reap() == [task_id]
    last = queue.transitions(task_id)[-1]
    assert (last.to_state, last.code) == (FAILED, ReportOverdue.code)
    assert "did not report within the job's timeout" in (last.message or "")
    assert queue.task(task_id).due_at is not None, "it is tried again"


def test_only_a_call_to_the_outside_is_handed_over(queue: Queue) -> None:
    (task_id,) = queue.put("sweep")
    ticket = queue.claim()[0].ticket
    before = queue.task(task_id)
    with pytest.raises(NotHandedOver, match="is of kind python"):
        queue.dispatch.hand_over(ticket)
    assert queue.task(task_id) == before


def test_a_machine_may_have_any_name(queue: Queue) -> None:
    queue.put("sweep")
    named = ELSEWHERE.model_copy(update={"host": "outside"})
    ticket = queue.claim(worker=named)[0].ticket
    queue.clock.pass_time(100)
    assert queue.dispatch.keep([ticket]) == {ticket.run_id: 120}


def test_the_time_of_a_lease_is_asked_once_its_task_is_held(queue: Queue) -> None:
    """Whoever waited for the task does not go by a time before the wait."""
    queue.put("sweep")
    ticket = queue.claim()[0].ticket
    with counted_statements(queue.context.database) as sent:

        def clock() -> datetime:
            sent.append("the time")
            return queue.clock()

        EmbeddedDispatch(replace(queue.context, clock=clock)).keep([ticket])
    assert [given.split()[0] for given in sent if "tasks" in given or given == "the time"] == [
        "SELECT",
        "the",
        "UPDATE",
    ]

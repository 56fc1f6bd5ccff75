"""Reports that bring the next tasks, on each kind of State: both happen, or neither."""

from __future__ import annotations

import pytest
from sqlalchemy import event

from lakeguard.services.ports.dispatch import EmbeddedDispatch
from lakeguard.state.database import Database
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.errors import Fenced
from lakeguard_sdk.model.run import Failure
from lakeguard_sdk.scheduling.tasks import Assignment, TaskAnswer
from tests.support.projects.planes import ELSEWHERE
from tests.support.projects.queues import BUSY, DONE, Queue, job, make_queue


@pytest.fixture
def queue(state: Database) -> Queue:
    return make_queue(state, job("sweep", concurrency=100), job("mop"))


@pytest.fixture(params=["claimed here", "claimed elsewhere"])
def port(queue: Queue, request: pytest.FixtureRequest) -> EmbeddedDispatch:
    """Of the process that claimed the tasks, and of one that did not."""
    return queue.dispatch if request.param == "claimed here" else EmbeddedDispatch(queue.context)


def ids(given: tuple[Assignment, ...]) -> list[str]:
    return [each.ticket.task_id for each in given]


def test_an_ended_attempt_brings_the_next_task(queue: Queue, port: EmbeddedDispatch) -> None:
    first, second = queue.put("mop", 2)
    (given,) = queue.claim(5)
    assert given.ticket.task_id == first
    (answer,), following = port.report_and_claim([(given.ticket, DONE)], ELSEWHERE)
    assert isinstance(answer, TaskAnswer)
    assert answer.state is TaskState.COMPLETED
    assert ids(following) == [second], "the job has its only slot again"
    (answer,), nothing = port.report_and_claim([(following[0].ticket, BUSY)], ELSEWHERE)
    assert isinstance(answer, TaskAnswer)
    assert (answer.state, nothing) == (TaskState.FAILED, ())


def test_no_more_tasks_than_attempts_that_are_over(queue: Queue, port: EmbeddedDispatch) -> None:
    queue.put("sweep", 9)
    given = queue.claim(3)
    queue.cancel(given[1].ticket.task_id)
    answers, following = port.report_and_claim([(each.ticket, DONE) for each in given], ELSEWHERE)
    assert [isinstance(each, TaskAnswer) for each in answers] == [True, False, True]
    assert isinstance(answers[1], Failure)
    assert answers[1].code == Fenced.code
    assert len(following) == 2


def test_the_same_report_gets_the_first_answer(queue: Queue, port: EmbeddedDispatch) -> None:
    queue.put("sweep", 3)
    (given,) = queue.claim(1)
    first, _ = port.report_and_claim([(given.ticket, DONE)], ELSEWHERE)
    queue.clock.pass_time(5)
    again, following = port.report_and_claim([(given.ticket, DONE)], ELSEWHERE)
    assert again == first
    assert len(following) == 1, "its slot is free, whoever was told of the first claim"


def test_labels_choose_the_next_task(queue: Queue, port: EmbeddedDispatch) -> None:
    queue.put("sweep", 2)
    queue.put("sweep", labels=("gpu", "spark"))
    given = queue.claim(2)
    reports = [(each.ticket, DONE) for each in given]
    assert port.report_and_claim(reports[:1], ELSEWHERE, labels=frozenset({"gpu"}))[1] == ()
    _, following = port.report_and_claim(reports[1:], ELSEWHERE, labels=frozenset({"gpu", "spark"}))
    assert len(following) == 1


def test_what_is_not_committed_neither_ends_nor_begins(queue: Queue) -> None:
    done, waiting = queue.put("sweep", 2)
    (given,) = queue.claim(1)
    port, engine = EmbeddedDispatch(queue.context), queue.context.database.engine

    def refuse(_connection: object) -> None:
        raise KeyError

    event.listen(engine, "commit", refuse)
    try:
        with pytest.raises(KeyError):
            port.report_and_claim([(given.ticket, DONE)], ELSEWHERE)
    finally:
        event.remove(engine, "commit", refuse)
    assert (queue.state(done), queue.state(waiting)) == (TaskState.RUNNING, TaskState.QUEUED)

"""Reports of many threads at once: together where they can go, each with its own answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import cast

import pytest

from lakeguard.worker.report_batches import ReportBatcher
from lakeguard_sdk.core.enums import RunStatus, TaskState
from lakeguard_sdk.errors import Fenced, LakeGuardError, StateUnavailable
from lakeguard_sdk.model.run import Failure, RunTicket, failure_of
from lakeguard_sdk.scheduling.tasks import Dispatch, TaskAnswer, TaskReport

DONE = TaskReport(success=True)


def ticket(number: int) -> RunTicket:
    return RunTicket(run_id=f"run_{number}", task_id=f"task_{number}", attempt=1, lease_token="t")


class Sent:
    """A dispatch port that holds its first call until all others wait, and refuses some runs."""

    def __init__(self, refused: Sequence[str] = (), away: int = 0) -> None:
        self.batches: list[int] = []
        self.opened = threading.Event()
        self._refused, self._away = refused, away

    def report(self, given: RunTicket, report: TaskReport) -> TaskAnswer:
        (answer,) = self._answers([(given, report)])
        if isinstance(answer, LakeGuardError):
            raise answer
        return answer

    def report_all(
        self, reports: Sequence[tuple[RunTicket, TaskReport]]
    ) -> tuple[TaskAnswer | Failure, ...]:
        found = self._answers(reports)
        return tuple(failure_of(e) if isinstance(e, LakeGuardError) else e for e in found)

    def _answers(
        self, reports: Sequence[tuple[RunTicket, TaskReport]]
    ) -> list[TaskAnswer | LakeGuardError]:
        first = not self.batches
        self.batches.append(len(reports))
        if first:
            self.opened.wait(30)
        elif self._away:
            self._away -= 1
            raise StateUnavailable(place="there", reason="away")
        return [self._answer(given) for given, _ in reports]

    def _answer(self, given: RunTicket) -> TaskAnswer | LakeGuardError:
        if given.run_id in self._refused:
            return Fenced(run=given.run_id, reason="it is over")
        return TaskAnswer(
            run_id=given.run_id,
            task_id=given.task_id,
            attempt=1,
            status=RunStatus.SUCCESS,
            state=TaskState.COMPLETED,
            ended_at=datetime(2026, 1, 1, tzinfo=UTC),
        )


def until(come: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not come():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def send_all(sent: Sent, count: int) -> dict[int, TaskAnswer | LakeGuardError]:
    """All report while the first call is under way."""
    joined = ReportBatcher(cast(Dispatch, sent))

    def one(number: int) -> TaskAnswer | LakeGuardError:
        try:
            return joined.report(ticket(number), DONE)
        except LakeGuardError as error:
            return error

    with ThreadPoolExecutor(count) as pool:
        first = pool.submit(one, 0)
        until(lambda: bool(sent.batches))
        others = {number: pool.submit(one, number) for number in range(1, count)}
        until(lambda: joined._waiting.qsize() == count - 1)
        sent.opened.set()
        return {0: first.result(), **{number: each.result() for number, each in others.items()}}


def test_what_comes_meanwhile_goes_together_and_each_gets_its_own_answer() -> None:
    sent = Sent()
    answers = send_all(sent, 9)
    assert sent.batches == [1, 8]
    for number, answer in answers.items():
        assert isinstance(answer, TaskAnswer)
        assert answer.run_id == f"run_{number}"


def test_a_refused_report_raises_its_own_error_and_harms_no_other() -> None:
    sent = Sent(refused=("run_3",))
    answers = send_all(sent, 5)
    assert [number for number, each in answers.items() if isinstance(each, Fenced)] == [3]
    assert sent.batches == [1, 4, 1]


def test_all_of_a_batch_hear_that_the_state_is_away_and_may_try_again() -> None:
    sent = Sent(away=1)
    answers = send_all(sent, 4)
    assert isinstance(answers[0], TaskAnswer)
    assert all(isinstance(answers[number], StateUnavailable) for number in (1, 2, 3))


def test_a_single_report_goes_alone() -> None:
    sent = Sent(refused=("run_7",))
    sent.opened.set()
    joined = ReportBatcher(cast(Dispatch, sent))
    assert joined.report(ticket(1), DONE).task_id == "task_1"
    with pytest.raises(Fenced):
        joined.report(ticket(7), DONE)
    assert sent.batches == [1, 1]

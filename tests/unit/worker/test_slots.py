"""The slots of a worker: a report brings the next task of its slot."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast

from lakeguard.worker.attempt import Attempt, Ended, Ending
from lakeguard.worker.loop import WorkerEvent, WorkerOptions, WorkLoop
from lakeguard.worker.report_batches import ReportBatcher
from lakeguard.worker.task_runner import report_end
from lakeguard_sdk.core.enums import RunStatus, TaskKind, TaskState
from lakeguard_sdk.model.run import RunTicket
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.scheduling.tasks import Assignment, Dispatch, TaskAnswer, TaskReport

DONE = TaskReport(success=True)


def assignment(number: int, job: str = "mop") -> Assignment:
    ticket = RunTicket(run_id=f"run_{number}", task_id=f"task_{number}", attempt=1, lease_token="t")
    return Assignment(
        ticket=ticket, kind=TaskKind.PYTHON, job=job, timeout_seconds=9, lease_seconds=99
    )


class Given:
    """A dispatch port with a number of tasks."""

    def __init__(self, tasks: int) -> None:
        self.left = [assignment(number) for number in range(tasks)]
        self.claims = 0
        self._lock = threading.Lock()

    def claim(self, _worker: object, *, limit: int, **_options: Any) -> tuple[Assignment, ...]:
        self.claims += 1
        return self._taken(limit)

    def report_and_claim(
        self, reports: Sequence[tuple[RunTicket, TaskReport]], _worker: object, **_options: Any
    ) -> tuple[tuple[TaskAnswer, ...], tuple[Assignment, ...]]:
        return tuple(answer(ticket) for ticket, _ in reports), self._taken(len(reports))

    def _taken(self, most: int) -> tuple[Assignment, ...]:
        with self._lock:
            taken, self.left = self.left[:most], self.left[most:]
        return tuple(taken)


def answer(ticket: RunTicket) -> TaskAnswer:
    return TaskAnswer(
        run_id=ticket.run_id,
        task_id=ticket.task_id,
        attempt=1,
        status=RunStatus.SUCCESS,
        state=TaskState.COMPLETED,
        ended_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


def loop_of(given: Given, slots: int, tell: Any = lambda *_: None) -> WorkLoop:
    dispatch = cast(Dispatch, given)
    reports = ReportBatcher(dispatch)

    def work(attempt: Attempt) -> Ended:
        return report_end(reports, attempt, DONE)

    options = WorkerOptions(slots=slots, drain=True)
    worker = this_process("tests")
    return WorkLoop(dispatch, worker, work, lambda: None, options, tell, reports)


def test_reports_bring_the_tasks_and_no_slot_has_two() -> None:
    given, running, most = Given(50), set[str](), [0]
    lock = threading.Lock()

    def tell(event: WorkerEvent, attempt: Any, *_: Any) -> None:
        with lock:
            if event is WorkerEvent.BEGUN:
                running.add(attempt.ticket.run_id)
            else:
                running.remove(attempt.ticket.run_id)
            most.append(len(running))

    assert loop_of(given, 4, tell).run() == {Ending.SUCCEEDED: 50}
    assert max(most) <= 4
    assert given.claims < 25, "most tasks come with reports"


def test_a_task_goes_to_a_slot_of_its_job() -> None:
    loop = loop_of(Given(0), 3)
    for number, job in enumerate(("mop", "sweep", "dust")):
        loop._attempts[f"run_{number}"] = Attempt(assignment(number, job))
    given = [assignment(number, job) for number, job in ((7, "paint"), (8, "mop"), (9, "sweep"))]
    loop.fill(["run_0", "run_1", "run_2"], given)
    found = {run_id: each.ticket.run_id for run_id, each in loop._following.items()}
    assert found == {"run_0": "run_8", "run_1": "run_9", "run_2": "run_7"}


def test_a_worker_that_stops_claims_nothing_more() -> None:
    loop = loop_of(Given(3), 1)
    assert loop.claimant() is not None
    loop.stop()
    assert loop.claimant() is None


def test_a_listener_that_fails_costs_no_task() -> None:
    given, errors = Given(5), list[object]()

    def tell(event: WorkerEvent, *_: Any) -> None:
        if event is WorkerEvent.ENDED:
            raise BrokenPipeError

    before, threading.excepthook = threading.excepthook, lambda found: errors.append(found.exc_type)
    try:
        assert loop_of(given, 2, tell).run() == {Ending.SUCCEEDED: 5}
    finally:
        threading.excepthook = before
    assert set(errors) == {BrokenPipeError}

"""Tasks against a plain model, with a clock that jumps, transactions that fail and lost replies.

A failure prints the steps and the blob that repeats them.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import event, select

from lakeguard.insight.verification.history import history_findings
from lakeguard.state.claim_function import SEARCH
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import tasks
from lakeguard.state.transaction import Autocommit
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.errors import (
    Fenced,
    LakeGuardError,
    NotCancelable,
    NotRetryable,
    ReportConflict,
)
from lakeguard_sdk.model.run import RunTicket
from lakeguard_sdk.scheduling.tasks import TaskAnswer, TaskReport
from tests.property.dispatch.lifecycle import AGAIN, LIMITS, WITHDRAWN, Model, ModelTask
from tests.support.databases.databases import migrated_file
from tests.support.examples import examples
from tests.support.projects.queues import (
    BUSY,
    DONE,
    WRONG,
    job,
    make_queue,
)

T = TypeVar("T")
REPORTS = {"done": DONE, "busy": BUSY, "wrong": WRONG}


class Fault(Enum):
    NONE = "none"
    THROWN_AWAY = "the transaction is thrown away at its end"
    UNHEARD = "it is done, and its answer is lost"


class Away(Exception):
    pass


faults = st.sampled_from([Fault.NONE, Fault.NONE, Fault.NONE, Fault.THROWN_AWAY, Fault.UNHEARD])


class Lifecycle(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.database = self.opened()
        self.queue = make_queue(
            self.database, *(job(name, concurrency=limit) for name, limit in LIMITS.items())
        )
        self.model = Model()
        self.answers: dict[RunTicket, tuple[TaskReport, TaskAnswer]] = {}

    def opened(self) -> Database:
        self.folder = Path(tempfile.mkdtemp())
        migrated_file(self.folder / "state.db")
        return Database(f"sqlite:///{self.folder}/state.db")

    def closed(self) -> None:
        self.database.close()
        shutil.rmtree(self.folder)

    def teardown(self) -> None:
        """In the end every change follows from the one before it."""
        if hasattr(self, "queue"):
            findings = list(
                history_findings(OrganisationState.of(self.database, self.queue.context.org_id))
            )
            self.closed()
            assert not findings

    @rule(
        name=st.sampled_from(sorted(LIMITS)),
        attempts=st.integers(1, 3),
        priority=st.integers(-1, 1),
        due_in=st.sampled_from([0, 0, 50]),
    )
    def put(self, name: str, attempts: int, priority: int, due_in: int) -> None:
        more = {"attempts": attempts, "priority": priority, "due_in": due_in}
        (task_id,) = self.queue.put(name, **more)
        due_at = self.queue.task(task_id).due_at
        self.model.tasks[task_id] = ModelTask(task_id, name, priority, attempts, due_at)

    @rule(seconds=st.sampled_from([1, 29, 61, 119, 121, 700, -3]))
    def jump(self, seconds: int) -> None:
        self.queue.clock.pass_time(seconds)

    @rule(limit=st.integers(1, 4), fault=faults)
    def claim(self, limit: int, fault: Fault) -> None:
        expected = self.model.next(limit, self.now)
        given = self.done(lambda: self.queue.claim(limit), fault)
        if fault is Fault.THROWN_AWAY:
            return
        if given is not None:
            assert [each.ticket.task_id for each in given] == [each.task_id for each in expected]
        for task in expected:
            self.queue_begun(task)

    def queue_begun(self, task: ModelTask) -> None:
        """What the State says of the attempt, whether anybody heard of it or not."""
        found = self.queue.task(task.task_id)
        assert (found.attempt, found.lease_token is not None) == (task.attempt + 1, True)
        ticket = RunTicket(
            run_id=str(found.run_id),
            task_id=task.task_id,
            attempt=found.attempt,
            lease_token=str(found.lease_token),
        )
        task.begin(ticket, self.now)
        task.lease_until = found.lease_expires_at

    @precondition(lambda self: any(task.tickets for task in self.model.tasks.values()))
    @rule(data=st.data(), what=st.sampled_from(sorted(REPORTS)), fault=faults)
    def report(self, data: st.DataObject, what: str, fault: Fault) -> None:
        """By any ticket that ever was."""
        ticket = data.draw(st.sampled_from(self.tickets()))
        task, report = self.model.tasks[ticket.task_id], REPORTS[what]
        known = self.answers.get(ticket)
        if known is not None or not task.runs(ticket):
            self.report_late(ticket, report)
            return
        answer = self.done(lambda: self.queue.report(ticket, report), fault)
        if fault is Fault.THROWN_AWAY:
            return
        answer = answer or self.queue.report(ticket, report)
        self.answers[ticket] = report, answer
        if report.success:
            task.move(TaskState.COMPLETED)
        else:
            self.expect_due(task, task.fail(self.now, may_pass=report is BUSY))
        assert answer.state is task.state

    def report_late(self, ticket: RunTicket, report: TaskReport) -> None:
        """The same again gets the first answer; all else is refused, and changes nothing."""
        known = self.answers.get(ticket)
        try:
            answer = self.queue.report(ticket, report)
        except (Fenced, ReportConflict):
            assert known is None or known[0] != report
        else:
            assert known is not None
            assert known == (report, answer)

    @precondition(lambda self: any(task.tickets for task in self.model.tasks.values()))
    @rule(fault=faults)
    def keep(self, fault: Fault) -> None:
        tickets = self.tickets()
        alive = [
            ticket
            for ticket in tickets
            if self.model.tasks[ticket.task_id].runs(ticket)
            and not self.model.tasks[ticket.task_id].lapsed(self.now)
        ]
        kept = self.done(lambda: self.queue.dispatch.keep(tickets), fault)
        if fault is Fault.THROWN_AWAY:
            return
        assert kept is None or set(kept) == {ticket.run_id for ticket in alive}
        for ticket in alive:
            task = self.model.tasks[ticket.task_id]
            found = self.queue.task(task.task_id).lease_expires_at
            assert task.lease_until is not None
            assert found is not None
            assert found >= task.lease_until
            task.lease_until = found

    @rule(fault=faults)
    def reap(self, fault: Fault) -> None:
        lapsed = self.model.lapsed(self.now)
        ended = self.done(self.queue.reap, fault)
        if fault is Fault.THROWN_AWAY:
            return
        assert ended is None or set(ended) == {task.task_id for task in lapsed}
        for task in lapsed:
            self.expect_due(task, task.fail(self.now, may_pass=True))

    @rule(fault=faults)
    def queue_retries(self, fault: Fault) -> None:
        due = self.model.to_retry(self.now)
        queued = self.done(self.queue.queue_retries, fault)
        if fault is Fault.THROWN_AWAY:
            return
        assert queued is None or set(queued) == {task.task_id for task in due}
        for task in due:
            task.move(TaskState.QUEUED, self.queue.task(task.task_id).due_at)

    @precondition(lambda self: self.model.tasks)
    @rule(data=st.data(), fault=faults)
    def retry(self, data: st.DataObject, fault: Fault) -> None:
        task = self.any_task(data)
        self.ask(lambda: self.queue.retry(task.task_id), fault, task.state in AGAIN, NotRetryable)
        if task.state in AGAIN and fault is not Fault.THROWN_AWAY:
            task.move(TaskState.QUEUED, self.queue.task(task.task_id).due_at)

    @precondition(lambda self: self.model.tasks)
    @rule(data=st.data(), fault=faults)
    def cancel(self, data: st.DataObject, fault: Fault) -> None:
        task = self.any_task(data)
        if task.state is TaskState.CANCELED:
            self.queue.cancel(task.task_id)
            return
        able = task.state in WITHDRAWN
        self.ask(lambda: self.queue.cancel(task.task_id), fault, able, NotCancelable)
        if able and fault is not Fault.THROWN_AWAY:
            task.move(TaskState.CANCELED)

    @invariant()
    def every_task_is_where_the_model_has_it(self) -> None:
        if not hasattr(self, "queue"):
            return
        with self.database.read() as connection:
            columns = (tasks.c.task_id, tasks.c.state, tasks.c.attempt, tasks.c.changes)
            ours = select(*columns).where(tasks.c.org_id == self.queue.context.org_id)
            found = {row.task_id: tuple(row) for row in connection.execute(ours)}
        expected = {
            task.task_id: (task.task_id, task.state.value, task.attempt, task.changes)
            for task in self.model.tasks.values()
        }
        assert found == expected
        narrow = [task for task in self.model.tasks.values() if task.job == "narrow"]
        assert sum(task.state is TaskState.RUNNING for task in narrow) <= LIMITS["narrow"]

    def done(self, act: Callable[[], T], fault: Fault) -> T | None:
        """What it answers; None where nobody hears it."""
        if fault is Fault.THROWN_AWAY:
            event.listen(self.database.engine, "commit", _throw_away)
            try:
                with patch.object(Autocommit, "value_of", _thrown_away):
                    act()
            except Away:
                return None
            finally:
                event.remove(self.database.engine, "commit", _throw_away)
            raise AssertionError("it wrote nothing")
        answer = act()
        return None if fault is Fault.UNHEARD else answer

    def ask(
        self, act: Callable[[], T], fault: Fault, able: bool, refusal: type[LakeGuardError]
    ) -> None:
        try:
            self.done(act, fault)
        except refusal:
            assert not able
        else:
            assert able

    def expect_due(self, task: ModelTask, between: tuple[datetime, datetime] | None) -> None:
        """The pause has some chance in it: what the State chose is within its bounds."""
        task.due_at = self.queue.task(task.task_id).due_at
        if between is None:
            assert task.due_at is None
        else:
            assert task.due_at is not None
            slack = self.queue.clock.now - self.now
            assert between[0] - slack <= task.due_at <= between[1] + slack

    def any_task(self, data: st.DataObject) -> ModelTask:
        return self.model.tasks[data.draw(st.sampled_from(sorted(self.model.tasks)))]

    def tickets(self) -> list[RunTicket]:
        return [ticket for task in self.model.tasks.values() for ticket in task.tickets]

    @property
    def now(self) -> datetime:
        return self.queue.clock.now


def _throw_away(_connection: object) -> None:
    raise Away


def _thrown_away(tx: Autocommit, statement: str, values: Any) -> Any:
    """The same for a statement that commits by itself, unless a transaction follows it."""
    driver: Any = tx.connection.connection.driver_connection
    driver.autocommit = False
    (value,) = driver.execute(statement, values).fetchone()
    driver.rollback()
    driver.autocommit = True
    if value == 0 or value == {"tasks": [], "reason": SEARCH}:
        return value
    raise Away


def test_tasks_live_as_the_model_says() -> None:
    run_state_machine_as_test(
        Lifecycle,
        settings=examples(15, stateful_step_count=25, print_blob=True),
    )


def test_tasks_live_as_the_model_says_on_a_server(schema: Database) -> None:
    """One State for all examples: each has an organisation of its own."""
    schema.migrate()

    class OnServer(Lifecycle):
        def opened(self) -> Database:
            return schema

        def closed(self) -> None:
            pass

    run_state_machine_as_test(
        OnServer,
        settings=examples(12, stateful_step_count=25, print_blob=True),
    )

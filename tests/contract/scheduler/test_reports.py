"""Reports on attempts, on each kind of State: taken once, and only from whom they are due."""

from __future__ import annotations

import itertools
import random
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Table, event, select

from lakeguard.dispatch.leases import end_canceled, end_lapsed
from lakeguard.dispatch.retry import queue_due_retries
from lakeguard.dispatch.task_list import list_transitions, require_task, show_task
from lakeguard.promotion.context import PlaneContext
from lakeguard.services.ports.dispatch import EmbeddedDispatch
from lakeguard.settings.settings import DispatchSettings
from lakeguard.state import schema as t
from lakeguard.state.database import Database
from lakeguard_sdk.core.enums import RunStatus, TaskKind, TaskState
from lakeguard_sdk.errors import (
    Fenced,
    NotReported,
    OutputExists,
    ReportConflict,
    ReportRefused,
    UnknownRun,
)
from lakeguard_sdk.model.run import Failure, RunTicket
from lakeguard_sdk.scheduling.tasks import Dispatch, Output, TaskAnswer, TaskReport
from tests.support.cases.refused_reports import REFUSED
from tests.support.fakes.killed_at import dying_at
from tests.support.projects.planes import Clock
from tests.support.projects.running_tasks import (
    BROKEN,
    DONE,
    JOB,
    begin,
    begun,
    make_context,
    submit,
)

_numbers = itertools.count(1)
PASSING = TaskReport(
    success=False, error=Failure(code="BUSY", message="come again", retryable=True)
)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def context(state: Database, tmp_path: Path, clock: Clock) -> PlaneContext:
    """Once on SQLite, once on PostgreSQL."""
    return make_context(state, tmp_path, clock, org_id=f"org_{next(_numbers)}")


@pytest.fixture
def port(context: PlaneContext) -> Dispatch:
    return EmbeddedDispatch(context)


def rows(context: PlaneContext, table: Table) -> list[dict[str, Any]]:
    with context.read() as tx:
        found = tx.execute(select(table).where(table.c.org_id == context.org_id))
        return [dict(row._mapping) for row in found]


def count(context: PlaneContext, table: Table) -> int:
    return len(rows(context, table))


def state_of(context: PlaneContext, ticket: RunTicket) -> TaskState:
    with context.read() as tx:
        return show_task(tx, ticket.task_id).state


# -- what is taken -------------------------------------------------------------------------------


def test_a_success_ends_its_task_and_keeps_its_outputs(
    context: PlaneContext, port: Dispatch
) -> None:
    ticket = begun(context, key="day 1")
    notes = {"broom": "new", "share": 0.5, "rooms": [1, 2]}
    report = TaskReport(
        success=True, outputs={"swept": Output(location="s3://b/k", rows=7, bytes=70, notes=notes)}
    )
    answer = port.report(ticket, report)
    assert (answer.status, answer.state) == (RunStatus.SUCCESS, TaskState.COMPLETED)
    assert (answer.run_id, answer.attempt, answer.outputs) == (ticket.run_id, 1, ("swept",))
    (output,) = rows(context, t.output_materializations)
    assert (output["job_id"], output["output"], output["idempotency_key"]) == (
        JOB, "swept", "day 1",
    )  # fmt: skip
    assert (output["location"], output["rows"], output["bytes"]) == ("s3://b/k", 7, 70)
    assert output["notes"] == '{"broom":"new","rooms":[1,2],"share":0.5}'
    (execution,) = rows(context, t.md_job_execution)
    assert (execution["status"], execution["end_time"]) == ("COMPLETED", answer.ended_at)
    assert execution["config_hash"].startswith("sha256:")
    assert state_of(context, ticket) is TaskState.COMPLETED


def test_a_failure_ends_its_task_and_says_why(context: PlaneContext, port: Dispatch) -> None:
    ticket = begun(context)
    answer = port.report(ticket, BROKEN)
    assert (answer.status, answer.state) == (RunStatus.FAILED, TaskState.FAILED)
    with context.read() as tx:
        last = list_transitions(tx, ticket.task_id)[-1]
    assert (last.from_state, last.to_state) == (TaskState.RUNNING, TaskState.FAILED)
    assert (last.code, last.message, last.actor) == ("SWEEP-7", "no broom", "worker")
    (execution,) = rows(context, t.md_job_execution)
    assert (execution["status"], execution["error_code"]) == ("FAILED", "SWEEP-7")


def test_a_failure_that_may_pass_is_tried_again_and_ends_dead(
    context: PlaneContext, port: Dispatch, clock: Clock
) -> None:
    task_id = submit(context, attempts=2)
    first = port.report(begin(context, task_id), PASSING)
    assert first.state is TaskState.FAILED
    clock.pass_time(3600)
    with context.write() as tx:
        (again,) = queue_due_retries(tx, "loop", DispatchSettings())
    assert again.task_id == task_id
    assert port.report(begin(context, task_id), PASSING).state is TaskState.DEAD
    ends = [row["error_code"] for row in rows(context, t.md_job_execution)]
    assert ends == ["BUSY", "BUSY"]


def test_a_lease_that_is_over_and_that_nobody_noticed_is_no_reason(
    context: PlaneContext, port: Dispatch, clock: Clock
) -> None:
    ticket = begun(context)
    clock.pass_time(3600)
    assert port.report(ticket, DONE).state is TaskState.COMPLETED


# -- the same again ------------------------------------------------------------------------------


def test_the_same_again_gets_the_first_answer(
    context: PlaneContext, port: Dispatch, clock: Clock
) -> None:
    reports = [(begun(context), report) for report in (DONE, BROKEN, PASSING)]
    first = [port.report(*each).to_json() for each in reports]
    clock.pass_time(7200)
    assert [port.report(*each).to_json() for each in reports] == first
    with context.write() as tx:
        queue_due_retries(tx, "loop", DispatchSettings())
    assert [port.report(*each).to_json() for each in reports] == first
    assert count(context, t.task_results) == 3


def test_an_attempt_that_was_followed_by_another_keeps_its_answer(
    context: PlaneContext, port: Dispatch, clock: Clock
) -> None:
    task_id = submit(context)
    old = begin(context, task_id)
    first = port.report(old, PASSING)
    clock.pass_time(3600)
    with context.write() as tx:
        queue_due_retries(tx, "loop", DispatchSettings())
    new = begin(context, task_id)
    assert port.report(old, PASSING).to_json() == first.to_json()
    with pytest.raises(Fenced):
        port.report(old, DONE)
    assert port.report(new, DONE).state is TaskState.COMPLETED


def test_a_hundred_at_once_are_one(context: PlaneContext, port: Dispatch) -> None:
    ticket = begun(context)
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: port.report(ticket, DONE).to_json(), range(100)))
    assert len(set(answers)) == 1
    assert count(context, t.task_results) == count(context, t.output_materializations) == 1
    with context.read() as tx:
        changes = list_transitions(tx, ticket.task_id)
    assert [change.to_state for change in changes] == [
        TaskState.QUEUED, TaskState.RUNNING, TaskState.COMPLETED,
    ]  # fmt: skip


def test_who_never_heard_the_answer_asks_again(context: PlaneContext, port: Dispatch) -> None:
    ticket = begun(context)
    with dying_at("report.recorded"):
        port.report(ticket, DONE)
    (kept,) = rows(context, t.task_results)
    assert port.report(ticket, DONE).to_json() == kept["answer"]


def test_what_was_not_committed_was_not_reported(context: PlaneContext, port: Dispatch) -> None:
    ticket = begun(context)
    with dying_at("report.written"):
        port.report(ticket, DONE)
    assert count(context, t.task_results) == count(context, t.output_materializations) == 0
    assert state_of(context, ticket) is TaskState.RUNNING
    assert port.report(ticket, DONE).state is TaskState.COMPLETED


# -- what is refused -----------------------------------------------------------------------------


def test_another_report_on_the_same_attempt_is_refused(
    context: PlaneContext, port: Dispatch
) -> None:
    ticket = begun(context)
    first = port.report(ticket, DONE)
    other = TaskReport(success=True, outputs={"swept": Output(location="elsewhere")})
    for report in (other, BROKEN):
        with pytest.raises(ReportConflict):
            port.report(ticket, report)
    assert port.report(ticket, DONE).to_json() == first.to_json()
    (output,) = rows(context, t.output_materializations)
    assert output["location"] == "out/day.csv"


def test_who_slept_past_his_lease_comes_too_late(
    context: PlaneContext, port: Dispatch, clock: Clock
) -> None:
    task_id = submit(context)
    stopped = begin(context, task_id)
    clock.pass_time(3600)
    lapse(context)
    with pytest.raises(Fenced):
        port.report(stopped, DONE)
    clock.pass_time(3600)
    with context.write() as tx:
        queue_due_retries(tx, "loop", DispatchSettings())
    winner = begin(context, task_id)
    for _ in range(2):
        with pytest.raises(Fenced):
            port.report(stopped, DONE)
        port.report(winner, DONE)
    (output,) = rows(context, t.output_materializations)
    assert output["run_id"] == winner.run_id


def lapse(context: PlaneContext) -> None:
    context.transact(lambda tx: end_lapsed(tx, rules=context.dispatch))


def test_a_task_that_was_canceled_takes_no_report(context: PlaneContext, port: Dispatch) -> None:
    ticket = begun(context)
    with context.write() as tx:
        task = require_task(tx, ticket.task_id)
        failure = Failure(code="LG-3302", message="somebody canceled it")
        end_canceled(tx, task, failure, actor="somebody")
    with pytest.raises(Fenced):
        port.report(ticket, DONE)
    (execution,) = rows(context, t.md_job_execution)
    assert (execution["status"], execution["error_code"]) == ("FAILED", "LG-3302")


def test_a_ticket_that_is_not_whole_is_fenced(context: PlaneContext, port: Dispatch) -> None:
    ticket = begun(context)
    changes = ({"lease_token": "lease_x"}, {"attempt": 2}, {"run_id": "run_x"})
    forged = [ticket.model_copy(update=change) for change in changes]
    for _ in range(2):
        for each in forged:
            with pytest.raises(Fenced):
                port.report(each, DONE)
        port.report(ticket, DONE)


def test_a_report_that_is_not_as_promised_leaves_the_attempt_open(
    context: PlaneContext, port: Dispatch
) -> None:
    ticket = begun(context)
    for report, reason in REFUSED.values():
        with pytest.raises(ReportRefused, match=re.escape(reason)):
            port.report(ticket, report)
    assert count(context, t.task_results) == count(context, t.output_materializations) == 0
    assert port.report(ticket, DONE).state is TaskState.COMPLETED


def test_what_a_failure_says_holds_no_secret(context: PlaneContext, port: Dispatch) -> None:
    text = "\0no login\npassword=hunter2 at https://me:pw12@store.example\n" + "x" * 9_000
    ticket = begun(context)
    error = Failure(code="X", message=text)
    answer = port.report(ticket, TaskReport(success=False, error=error))
    kept = str(rows(context, t.task_results)) + str(rows(context, t.task_transitions))
    assert answer.error is not None
    assert answer.error.message.startswith("\N{REPLACEMENT CHARACTER}no login\npassword=***")
    assert len(answer.error.message) == 8_000
    assert "hunter2" not in kept
    assert "pw12" not in kept


def test_a_build_does_not_end_by_a_report(context: PlaneContext, port: Dispatch) -> None:
    ticket = begun(context, TaskKind.BUILD)
    with pytest.raises(NotReported):
        port.report(ticket, DONE)


def test_an_output_is_there_once_for_each_key(context: PlaneContext, port: Dispatch) -> None:
    """Two tasks of one job and one key can only come of a job that changed what it is about."""
    one = begun(context, key="day 1")
    two = begun(context, key="day 1", subject="job_other")
    port.report(one, DONE)
    with pytest.raises(OutputExists, match=one.run_id):
        port.report(two, DONE)
    assert count(context, t.output_materializations) == 1
    assert state_of(context, two) is TaskState.RUNNING


# -- whose it is ---------------------------------------------------------------------------------


def test_another_organisation_knows_nothing_of_it(
    context: PlaneContext, port: Dispatch, tmp_path: Path
) -> None:
    ticket = begun(context)
    strangers = EmbeddedDispatch(make_context(context.database, tmp_path, org_id="others"))
    with pytest.raises(UnknownRun):
        strangers.report(ticket, DONE)
    first = port.report(ticket, DONE)
    with pytest.raises(UnknownRun):
        strangers.report(ticket, DONE)
    assert port.report(ticket, DONE).to_json() == first.to_json()


# -- many together -------------------------------------------------------------------------------


def test_many_are_judged_each_alone(context: PlaneContext, port: Dispatch) -> None:
    good, late, odd, twice = (begun(context) for _ in range(4))
    stranger = good.model_copy(update={"task_id": "task_x", "run_id": "run_x"})
    port.report(late, BROKEN)
    answers = port.report_all(
        [
            (good, DONE),
            (late, DONE),
            (odd, TaskReport(success=True)),
            (twice, DONE),
            (twice, DONE),
            (twice, BROKEN),
            (stranger, DONE),
        ]
    )
    described = [each.code if isinstance(each, Failure) else each.state.value for each in answers]
    assert described == [
        "completed", "LG-3312", "LG-1611", "completed", "completed", "LG-3312", "LG-1005",
    ]  # fmt: skip
    assert isinstance(answers[3], TaskAnswer)
    assert answers[3] == answers[4]
    assert state_of(context, odd) is TaskState.RUNNING


def test_the_statements_are_as_few_for_many_as_for_one(
    context: PlaneContext, port: Dispatch
) -> None:
    one, some, many = (
        statements(context, port, [begun(context) for _ in range(count)]) for count in (1, 10, 20)
    )
    assert one <= some == many < 20


def statements(context: PlaneContext, port: Dispatch, tickets: list[RunTicket]) -> int:
    seen: list[str] = []

    def note(_c: Any, _cursor: Any, statement: str, *_: Any) -> None:
        seen.append(statement)

    event.listen(context.database.engine, "before_cursor_execute", note)
    answers = port.report_all([(ticket, DONE) for ticket in tickets])
    event.remove(context.database.engine, "before_cursor_execute", note)
    assert all(isinstance(each, TaskAnswer) for each in answers)
    return len(seen)


def test_overlapping_batches_wait_for_each_other(context: PlaneContext, port: Dispatch) -> None:
    """Eight send the same reports at once, each in another order."""
    tickets = [begun(context) for _ in range(24)]

    def send(seed: int) -> dict[str, str]:
        mine = random.Random(seed).sample(tickets, len(tickets))
        reported: dict[str, str] = {}
        for start in range(0, len(mine), 12):
            part = mine[start : start + 12]
            answers = port.report_all([(ticket, DONE) for ticket in part])
            reported |= {
                ticket.run_id: each.to_json() for ticket, each in zip(part, answers, strict=True)
            }
        return reported

    with ThreadPoolExecutor(8) as pool:
        first, *others = pool.map(send, range(8))
    assert all(reported == first for reported in others)
    assert count(context, t.task_results) == count(context, t.output_materializations) == 24

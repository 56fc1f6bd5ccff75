"""Ends of attempts that are no moves of a table, as their workers report them.

The same report again gets the first answer, byte for byte. Another report on an attempt that has
ended is refused, and so is one on an attempt that somebody gave up. A lease that is over, and that
nobody has noticed yet, is no reason: the work is done. A graph that was left is one: success under
it makes nothing current any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, select

from lakeguard.dispatch.attempt_ends import REPORTED_KINDS, AttemptEnd, record_ends
from lakeguard.dispatch.changes import Change, change
from lakeguard.dispatch.outputs import bring, brought_before
from lakeguard.dispatch.report_rules import checked_report, outputs_problem, report_hash
from lakeguard.dispatch.retrying import ended_as
from lakeguard.dispatch.task import Task, task_from
from lakeguard.dispatch.terms import terms_of
from lakeguard.ledger.left_graphs import left_graphs
from lakeguard.settings.dispatch import DispatchSettings
from lakeguard.state.tables import task_attempts, task_results, tasks
from lakeguard_sdk.dispatch import TaskAnswer, TaskReport
from lakeguard_sdk.errors import (
    Fenced,
    GraphLeft,
    LakeGuardError,
    NotReported,
    ReportedOtherwise,
    ReportRefused,
    UnknownRun,
)
from lakeguard_sdk.run import RunTicket
from lakeguard_sdk.words import RunStatus, TaskState

Told = tuple[RunTicket, TaskReport]

_HELD = (
    select(tasks)
    .where(
        tasks.c.org_id == bindparam("org_id"),
        tasks.c.task_id.in_(bindparam("task_ids", expanding=True)),
    )
    .order_by(tasks.c.task_id)
    .with_for_update()
)
_BEGUN = (
    select(
        task_attempts.c.run_id,
        task_attempts.c.config_hash,
        task_results.c.report_hash,
        task_results.c.answer,
    )
    .outerjoin(task_results, task_results.c.run_id == task_attempts.c.run_id)
    .where(
        task_attempts.c.org_id == bindparam("org_id"),
        task_attempts.c.run_id.in_(bindparam("runs", expanding=True)),
    )
)
"""Attempts with the terms that they began under, and with their ends."""


@dataclass(frozen=True)
class Ending:
    """An attempt that a report ends, and what it comes to."""

    task: Task
    report: TaskReport
    end: AttemptEnd
    due_at: datetime | None


@dataclass
class _Known:
    """What the State has of the attempts that are reported on."""

    tasks: dict[str, Task]
    ended: dict[str, tuple[str, TaskAnswer]]
    """By run: the hash of its report, and the answer that it got."""
    expected: dict[str, tuple[str, ...]]
    left: dict[str, str]
    """Versions of the graph that were left, each with the active one."""
    endings: list[Ending] = field(default_factory=list)


def report_all(
    connection: Connection,
    org_id: str,
    reports: Sequence[Told],
    rules: DispatchSettings,
    at: datetime,
) -> list[TaskAnswer | LakeGuardError]:
    """Each is judged alone, and those that are taken end together; a refusal leaves its attempt
    open. However many there are, the statements are few."""
    known = _look_up(connection, org_id, [ticket for ticket, _ in reports])
    answers: list[TaskAnswer | LakeGuardError] = []
    for ticket, report in reports:
        try:
            answers.append(_judge(known, ticket, report, rules, at))
        except LakeGuardError as refusal:
            answers.append(refusal)
    return _end(connection, org_id, known.endings, answers, at)


def _look_up(connection: Connection, org_id: str, tickets: Sequence[RunTicket]) -> _Known:
    """The tasks are held, in one order, before anything else is read: whoever reports at the same
    moment then sees what came of it."""
    task_ids = sorted({ticket.task_id for ticket in tickets})
    runs = sorted({ticket.run_id for ticket in tickets})
    held = connection.execute(_HELD, {"org_id": org_id, "task_ids": task_ids})
    found = [task_from(row) for row in held]
    begun = connection.execute(_BEGUN, {"org_id": org_id, "runs": runs}).all()
    return _Known(
        tasks={task.task_id: task for task in found},
        ended={
            row.run_id: (row.report_hash, TaskAnswer.from_json(row.answer))
            for row in begun
            if row.answer is not None
        },
        expected=_expected(connection, org_id, begun),
        left=left_graphs(
            connection, org_id, {task.dag_version_id for task in found if task.dag_version_id}
        ),
    )


def _expected(
    connection: Connection, org_id: str, begun: Sequence[Any]
) -> dict[str, tuple[str, ...]]:
    """The outputs that each attempt was told to bring."""
    terms = terms_of(connection, org_id, {row.config_hash for row in begun if row.config_hash})
    return {
        row.run_id: terms[row.config_hash].controls.outputs
        for row in begun
        if row.config_hash in terms
    }


def _judge(
    known: _Known, ticket: RunTicket, told: TaskReport, rules: DispatchSettings, at: datetime
) -> TaskAnswer:
    report = checked_report(ticket, told)
    digest = report_hash(ticket, report)
    before = known.ended.get(ticket.run_id)
    if before is not None and before[0] == digest:
        return before[1]
    task = known.tasks.get(ticket.task_id)
    if task is None:
        raise UnknownRun(run=ticket.task_id)
    _require(task, ticket, reported=before is not None and before[0] != "")
    if report.success and task.dag_version_id in known.left:
        raise GraphLeft(version=known.left[task.dag_version_id])
    problem = outputs_problem(report, known.expected.get(ticket.run_id, ()))
    if problem is not None:
        raise ReportRefused(run=ticket.run_id, reason=problem)
    ending = _ending(task, report, digest, rules, at)
    known.endings.append(ending)
    known.ended[ticket.run_id] = digest, ending.end.answer
    return ending.end.answer


def _require(task: Task, ticket: RunTicket, *, reported: bool) -> None:
    """The ticket is of the attempt that runs, and that ends by a report."""
    held = (task.run_id, task.attempt, task.lease_token)
    if held != (ticket.run_id, ticket.attempt, ticket.lease_token):
        raise Fenced(run=ticket.run_id, reason="a later attempt has its place")
    if task.kind not in REPORTED_KINDS:
        raise NotReported(run=ticket.run_id, kind=task.kind)
    if reported:
        raise ReportedOtherwise(run=ticket.run_id)
    if task.state is not TaskState.RUNNING:
        raise Fenced(run=ticket.run_id, reason=f"it is {task.state}")


def _ending(
    task: Task, report: TaskReport, digest: str, rules: DispatchSettings, at: datetime
) -> Ending:
    status = RunStatus.SUCCESS if report.success else RunStatus.FAILED
    state, due_at = ended_as(task, status, report.error, at, rules)
    answer = TaskAnswer(
        run_id=str(task.run_id),
        task_id=task.task_id,
        attempt=task.attempt,
        status=status,
        state=state,
        outputs=tuple(sorted(report.outputs)),
        error=report.error,
        ended_at=at,
    )
    return Ending(task, report, AttemptEnd(answer, digest), due_at)


def _end(
    connection: Connection,
    org_id: str,
    endings: Sequence[Ending],
    answers: Iterable[TaskAnswer | LakeGuardError],
    at: datetime,
) -> list[TaskAnswer | LakeGuardError]:
    """Write what was judged; outputs that another task has brought refuse their report yet."""
    refused = brought_before(connection, org_id, [(each.task, each.report) for each in endings])
    taken = [each for each in endings if each.task.run_id not in refused]
    change(connection, [_change(each) for each in taken], at)
    record_ends(connection, org_id, [each.end for each in taken], at)
    bring(connection, [(each.task, each.report) for each in taken], at)
    return [
        refused.get(each.run_id, each) if isinstance(each, TaskAnswer) else each for each in answers
    ]


def _change(ending: Ending) -> Change:
    error, worker = ending.report.error, ending.task.worker
    return Change(
        ending.task,
        ending.end.answer.state,
        actor=worker.name if worker else "outside",
        code=error.code if error else None,
        message=error.message if error else None,
        due_at=ending.due_at,
    )

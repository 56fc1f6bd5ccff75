"""Workers' reports on attempts that do not publish a table.

A repeated report gets the first response, byte for byte. A different report on an ended attempt is
refused, as is one on an attempt that was given up. An expired lease that nobody acted on does not
matter: the work is done. An abandoned graph does: its results are no longer wanted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import and_, bindparam, select

from lakeguard.dispatch.attempt_ends import REPORTED_KINDS, AttemptEnd, end_rows
from lakeguard.dispatch.retry import ended_as
from lakeguard.dispatch.task_changes import Change, change
from lakeguard.dispatch.task_row import Task, task_from
from lakeguard.dispatch.terms import terms_of
from lakeguard.ledger.left_graphs import left_graphs
from lakeguard.settings.settings import DispatchSettings
from lakeguard.state.schema import output_materializations, task_attempts, task_results, tasks
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import canonical_json, data_hash
from lakeguard_sdk.core.enums import RunStatus, TaskState
from lakeguard_sdk.errors import (
    Fenced,
    GraphRolledBack,
    LakeGuardError,
    NoteRefused,
    NotReported,
    OutputExists,
    ReportConflict,
    ReportRefused,
    UnknownRun,
)
from lakeguard_sdk.model.evidence import checked_notes
from lakeguard_sdk.model.run import Failure, RunTicket
from lakeguard_sdk.scheduling.tasks import Output, TaskAnswer, TaskReport
from lakeguard_sdk.security.secret_values import address_holds_secret, masked

TicketedReport = tuple[RunTicket, TaskReport]

_HELD = (
    select(tasks, task_attempts.c.config_hash)
    .outerjoin(
        task_attempts,
        and_(
            task_attempts.c.org_id == tasks.c.org_id,
            task_attempts.c.run_id == tasks.c.run_id,
        ),
    )
    .where(
        tasks.c.org_id == bindparam("org_id"),
        tasks.c.task_id.in_(bindparam("task_ids", expanding=True)),
    )
    .order_by(tasks.c.task_id)
    .with_for_update(of=tasks)
)
"""Tasks with the terms of their last attempts."""
_ENDED = select(task_results.c.run_id, task_results.c.report_hash, task_results.c.answer).where(
    task_results.c.org_id == bindparam("org_id"),
    task_results.c.run_id.in_(bindparam("runs", expanding=True)),
)


@dataclass(frozen=True)
class Ending:
    """An attempt to end, and its outcome."""

    task: Task
    report: TaskReport
    end: AttemptEnd
    due_at: datetime | None

    @property
    def actor(self) -> str:
        return self.task.worker.name if self.task.worker else "outside"


@dataclass
class Known:
    """Facts about the reported attempts."""

    tasks: dict[str, Task]
    ended: dict[str, tuple[str, TaskAnswer]]
    """Report hash and response by run."""
    expected: dict[str, tuple[str, ...]]
    left: dict[str, str]
    """Abandoned graph versions, each with the active one."""
    endings: list[Ending] = field(default_factory=list)


def report_all(
    tx: Transaction, reports: Sequence[TicketedReport], rules: DispatchSettings
) -> list[TaskAnswer | LakeGuardError]:
    """Validate each report, then end the accepted attempts together; a refused report leaves its
    attempt open. The number of statements does not depend on the number of reports."""
    at = tx.now()
    known = _look_up(tx, [ticket for ticket, _ in reports])
    answers: list[TaskAnswer | LakeGuardError] = []
    for ticket, report in reports:
        try:
            answers.append(judge(known, ticket, report, rules, at))
        except LakeGuardError as refusal:
            answers.append(refusal)
    return _end(tx, known.endings, answers, at)


def _look_up(tx: Transaction, tickets: Sequence[RunTicket]) -> Known:
    """Lock the tasks in a fixed order before reading, so that concurrent reports are serialised.

    A running attempt has no end yet, so ends are read of the other attempts only.
    """
    task_ids = sorted({ticket.task_id for ticket in tickets})
    rows = tx.execute(_HELD, {"org_id": tx.org_id, "task_ids": task_ids}).all()
    found = {row.task_id: task_from(row) for row in rows}
    running = {task.run_id for task in found.values() if task.state is TaskState.RUNNING}
    terms = terms_of(tx, {row.config_hash for row in rows if row.config_hash})
    versions = {task.dag_version_id for task in found.values() if task.dag_version_id}
    return Known(
        tasks=found,
        ended=_ended(tx, {ticket.run_id for ticket in tickets} - running),
        expected={
            row.run_id: terms[row.config_hash].controls.outputs
            for row in rows
            if row.config_hash in terms
        },
        left=left_graphs(tx, versions),
    )


def _ended(tx: Transaction, runs: Collection[str]) -> dict[str, tuple[str, TaskAnswer]]:
    if not runs:
        return {}
    rows = tx.execute(_ENDED, {"org_id": tx.org_id, "runs": sorted(runs)})
    return {row.run_id: (row.report_hash, TaskAnswer.from_json(row.answer)) for row in rows}


def judge(
    known: Known, ticket: RunTicket, sent: TaskReport, rules: DispatchSettings, at: datetime
) -> TaskAnswer:
    """The answer to a report; a new ending is added to those known. A refusal is raised."""
    report = checked_report(ticket, sent)
    digest = report_hash(ticket, report)
    before = known.ended.get(ticket.run_id)
    if before is not None and before[0] == digest:
        return before[1]
    task = known.tasks.get(ticket.task_id)
    if task is None:
        raise UnknownRun(run=ticket.task_id)
    _require(task, ticket, reported=before is not None and before[0] != "")
    if report.success and task.dag_version_id in known.left:
        raise GraphRolledBack(version=known.left[task.dag_version_id])
    problem = outputs_problem(report, known.expected.get(ticket.run_id, ()))
    if problem is not None:
        raise ReportRefused(run=ticket.run_id, reason=problem)
    ending = _ending(task, report, digest, rules, at)
    known.endings.append(ending)
    known.ended[ticket.run_id] = digest, ending.end.answer
    return ending.end.answer


def _require(task: Task, ticket: RunTicket, *, reported: bool) -> None:
    """Check that the ticket belongs to the running attempt of a reporting task."""
    held = (task.run_id, task.attempt, task.lease_token)
    if held != (ticket.run_id, ticket.attempt, ticket.lease_token):
        raise Fenced(run=ticket.run_id, reason="a later attempt has its place")
    if task.kind not in REPORTED_KINDS:
        raise NotReported(run=ticket.run_id, kind=task.kind)
    if reported:
        raise ReportConflict(run=ticket.run_id)
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
    tx: Transaction,
    endings: Sequence[Ending],
    answers: Iterable[TaskAnswer | LakeGuardError],
    at: datetime,
) -> list[TaskAnswer | LakeGuardError]:
    """Record accepted reports; an output of another task still refuses its report."""
    refused = _brought_before(tx, [(each.task, each.report) for each in endings])
    taken = [each for each in endings if each.task.run_id not in refused]
    ended = end_rows(tx.org_id, [each.end for each in taken])
    brought = [row for each in taken for row in _rows(each.task, each.report, at)]
    facts = [(task_results, ended), (output_materializations, brought)]
    change(tx, [_change(each) for each in taken], at, lambda _: facts)
    return [
        refused.get(each.run_id, each) if isinstance(each, TaskAnswer) else each for each in answers
    ]


def _change(ending: Ending) -> Change:
    error = ending.report.error
    return Change(
        ending.task,
        ending.end.answer.state,
        actor=ending.actor,
        code=error.code if error else None,
        message=error.message if error else None,
        due_at=ending.due_at,
    )


# Validation of reports. Pure.

LONGEST_LOCATION = 300
LONGEST_MESSAGE = 8_000
MOST = 2**63 - 1
_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/-]{0,39}\Z", re.ASCII)


def checked_report(ticket: RunTicket, report: TaskReport) -> TaskReport:
    """The report as stored and shown; raises ``ReportRefused`` if invalid."""
    problem = next(_problems(report), None)
    if problem is not None:
        raise ReportRefused(run=ticket.run_id, reason=problem)
    if not report.outputs and report.error is None:
        return report
    try:
        notes = checked_notes({name: output.notes for name, output in report.outputs.items()})
    except NoteRefused as refusal:
        raise ReportRefused(run=ticket.run_id, reason=refusal.fields["reason"]) from None
    outputs = {
        name: output.model_copy(update={"notes": notes[name]})
        for name, output in report.outputs.items()
    }
    error = None if report.error is None else _shown(report.error)
    return report.model_copy(update={"outputs": outputs, "error": error})


def report_hash(ticket: RunTicket, report: TaskReport) -> str:
    """A hash over report and ticket."""
    return data_hash({"report": report.to_data(), "ticket": ticket.to_data()})


def outputs_problem(report: TaskReport, expected: Collection[str]) -> str | None:
    """Why the reported outputs do not match the job's."""
    if not report.success:
        return None
    lacking = sorted(set(expected) - set(report.outputs))
    if lacking:
        return f"a success brings {', '.join(lacking)} too"
    strange = sorted(set(report.outputs) - set(expected))
    return f"the job promises no output {', '.join(strange)}" if strange else None


def _problems(report: TaskReport) -> Iterator[str]:
    if report.success and report.error is not None:
        yield "a success has no error"
    if not report.success and report.error is None:
        yield "a failure says why, with a code and a message"
    if not report.success and report.outputs:
        yield "a failure brings no outputs"
    if report.error is not None and not _CODE.match(report.error.code):
        yield "an error's code has 1 to 40 letters, digits and marks of _ . : / -"
    for name, output in report.outputs.items():
        yield from (f"the output {name}: {problem}" for problem in _problems_of(output))


def _problems_of(output: Output) -> Iterator[str]:
    location = output.location
    if location is not None and not (location.isprintable() and location.strip()):
        yield "a location is one line of text"
    if location is not None and len(location) > LONGEST_LOCATION:
        yield f"a location has at most {LONGEST_LOCATION} characters"
    if location is not None and address_holds_secret(location):
        yield "its location looks like it holds a secret"
    if max(output.rows or 0, output.bytes or 0) > MOST:
        yield "rows and bytes are numbers below 2**63"


def _shown(error: Failure) -> Failure:
    """Sanitise untrusted text: no secrets, no NUL, limited length."""
    lines = [
        masked(line)
        for line in error.message.replace("\0", "\N{REPLACEMENT CHARACTER}").split("\n")
    ]
    message = "\n".join(lines)
    if len(message) > LONGEST_MESSAGE:
        message = message[: LONGEST_MESSAGE - 1] + "…"
    return error.model_copy(update={"message": message})


# Outputs of jobs that build no dataset: each once per job and key, which the database ensures.

Brought = tuple[Task, TaskReport]


def _brought_before(tx: Transaction, brought: Sequence[Brought]) -> dict[str, LakeGuardError]:
    """Refusals by run: outputs already produced by another task."""
    keys = {
        (_job(task), output, task.dedupe_key): str(task.run_id)
        for task, report in brought
        for output in report.outputs
    }
    if not keys:
        return {}
    table = output_materializations.c
    jobs, _, named = (sorted({*parts}) for parts in zip(*keys, strict=True))
    there = tx.execute(
        select(table.job_id, table.output, table.idempotency_key, table.run_id).where(
            table.org_id == tx.org_id, table.job_id.in_(jobs), table.idempotency_key.in_(named)
        )
    )
    return {
        keys[job, output, key]: OutputExists(output=output, key=key, run=run)
        for job, output, key, run in there
        if (job, output, key) in keys
    }


def _rows(task: Task, report: TaskReport, at: datetime) -> Iterator[dict[str, Any]]:
    for name, output in report.outputs.items():
        yield {
            "org_id": task.org_id,
            "job_id": _job(task),
            "output": name,
            "idempotency_key": task.dedupe_key,
            "task_id": task.task_id,
            "run_id": task.run_id,
            "location": output.location,
            "rows": output.rows,
            "bytes": output.bytes,
            "notes": canonical_json(output.notes) if output.notes else None,
            "created_at": at,
        }


def _job(task: Task) -> str:
    return task.job_id or task.dataset_id

"""Reports on a few tasks that were claimed here, by one statement of PostgreSQL, which may claim
the next tasks, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic_core import to_json

from lakeguard.dispatch.claim import Claimed
from lakeguard.dispatch.claim_few import FewTasks
from lakeguard.dispatch.report import Ending, Known, TicketedReport, judge
from lakeguard.dispatch.task_row import Task
from lakeguard.ledger.notifications.store import has_event_channel
from lakeguard.settings.settings import DispatchSettings
from lakeguard.state import claim_function, report_function
from lakeguard.state.claim_function import CLAIM
from lakeguard.state.report_function import REPORT
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.errors import LakeGuardError
from lakeguard_sdk.scheduling.tasks import TaskAnswer

_REPORT = f"{REPORT}({', '.join(f'%({name})s' for name in report_function.PARAMETERS)})"
_CLAIM = ", ".join(
    "(CAST(%(run_ids)s AS text[]))[1:ended]" if name == "run_ids" else f"%({name})s"
    for name in claim_function.PARAMETERS
)
_REPORT_ONLY = f"SELECT {_REPORT}"
_REPORT_AND_CLAIM = f"SELECT json_build_array(ended, {CLAIM}({_CLAIM})) FROM {_REPORT} AS ended"  # noqa: S608 - names
"""Claims a task for each attempt that it ended."""


@dataclass(frozen=True)
class ClaimedTask:
    """A task as its claim left it, and the outputs that its job promises."""

    task: Task
    outputs: tuple[str, ...]


Answers = dict[str, TaskAnswer]
"""By run."""


@dataclass(frozen=True)
class FewReports:
    """Reports on tasks, each as it was claimed."""

    reports: Sequence[TicketedReport]
    claimed: Sequence[ClaimedTask]
    rules: DispatchSettings

    def endings(self, tx: Transaction, at: datetime) -> list[Ending]:
        """What they mean if the tasks are still as they were claimed, in the order in which tasks
        are locked; none if a report needs more than one statement."""
        if has_event_channel(tx) or any(sent.outputs for _, sent in self.reports):
            return []
        tasks = {each.task.task_id: each.task for each in self.claimed}
        expected = {str(each.task.run_id): each.outputs for each in self.claimed}
        known = Known(tasks, {}, expected, {})
        try:
            for ticket, sent in self.reports:
                judge(known, ticket, sent, self.rules, at)
        except LakeGuardError:
            return []
        return sorted(known.endings, key=lambda each: each.task.task_id)


def report_few(tx: Transaction, few: FewReports) -> Answers:
    """Answers to the reports that were recorded; ``report_all`` answers the others. On a connection
    in autocommit mode."""
    at = tx.now()
    endings = few.endings(tx, at)
    if not endings:
        return {}
    ended = tx.value_of(_REPORT_ONLY, _values(tx, endings, at))
    return _answers(endings[:ended])


def report_and_claim_few(
    tx: Transaction, few: FewReports, wanted: FewTasks
) -> tuple[Answers, Claimed]:
    """As ``report_few``, and by the same statement the most urgent tasks, at most one for each
    recorded report."""
    at = tx.now()
    endings = few.endings(tx, at)
    if not endings:
        return {}, Claimed()
    values = wanted.values(tx, at) | _values(tx, endings, at)
    ended, answer = tx.value_of(_REPORT_AND_CLAIM, values)
    return _answers(endings[:ended]), wanted.claimed(tx, answer)


def _values(tx: Transaction, endings: Sequence[Ending], at: datetime) -> dict[str, Any]:
    reports = to_json([_report(each) for each in endings]).decode()
    return {"org_id": tx.org_id, "at": at, "reports": reports}


def _answers(recorded: Sequence[Ending]) -> Answers:
    return {each.end.answer.run_id: each.end.answer for each in recorded}


def _report(ending: Ending) -> dict[str, Any]:
    task, answer, error = ending.task, ending.end.answer, ending.end.answer.error
    found: dict[str, Any] = {
        "task_id": task.task_id,
        "run_id": task.run_id,
        "lease_token": task.lease_token,
        "attempt": task.attempt,
        "changes": task.changes,
        "state": answer.state.value,
        "status": answer.status.value,
        "actor": ending.actor,
        "report_hash": ending.end.report_hash,
        "answer": answer.to_json(),
    }
    if error is not None:
        found |= {"code": error.code, "message": error.message, "due_at": ending.due_at}
    return found

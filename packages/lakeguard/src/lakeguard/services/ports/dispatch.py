"""The dispatch port of the embedded control plane."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from lakeguard.dispatch.attempt_ends import REPORTED_KINDS
from lakeguard.dispatch.claim import Claimed, claim_due
from lakeguard.dispatch.claim_few import FEW_TASKS, FewTasks, KnownJobs, claim_few
from lakeguard.dispatch.leases import hand_over, keep
from lakeguard.dispatch.report import TicketedReport, report_all
from lakeguard.dispatch.report_few import (
    Answers,
    ClaimedTask,
    FewReports,
    report_and_claim_few,
    report_few,
)
from lakeguard.promotion.context import PlaneContext
from lakeguard.state.bulk_writes import in_pieces
from lakeguard.state.claim_function import AGAIN, ALL, SEARCH
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import TaskKind
from lakeguard_sdk.errors import LakeGuardError, SettingsError, StateUnavailable
from lakeguard_sdk.model.run import (
    Failure,
    RunTicket,
    WorkerIdentity,
    failure_of,
)
from lakeguard_sdk.scheduling.tasks import (
    Assignment,
    RefusedTask,
    TaskAnswer,
    TaskReport,
)
from lakeguard_sdk.storage.fault_points import reached

_log = logging.getLogger(__name__)
_AT_ONCE = 1_000
"""Tasks or reports per transaction."""
_MOST_CLAIMED = 10_000


@dataclass(frozen=True)
class EmbeddedDispatch:
    context: PlaneContext
    _claimed: dict[str, ClaimedTask] = field(default_factory=dict, compare=False, repr=False)
    """Tasks claimed here by run: their reports need not look them up."""
    _jobs: KnownJobs = field(default_factory=KnownJobs, compare=False, repr=False)

    def check(self) -> None:
        self.context.database.check()

    def claim(
        self,
        worker: WorkerIdentity,
        *,
        limit: int = 1,
        labels: frozenset[str] = frozenset(),
        only: str | None = None,
        refused: Callable[[RefusedTask], None] = lambda _: None,
    ) -> tuple[Assignment, ...]:
        if limit < 1:
            return ()
        few = only is None and limit <= FEW_TASKS and self._is_postgresql
        found = self._searched(worker, limit, labels, only, few=few)
        return self._taken(found, refused)

    def _searched(
        self,
        worker: WorkerIdentity,
        limit: int,
        labels: frozenset[str],
        only: str | None = None,
        *,
        few: bool,
    ) -> list[Claimed]:
        """By the function that claims a few, and of the whole queue where it says so."""
        found, missing = list[Claimed](), min(limit, _AT_ONCE)
        reason = AGAIN if few else SEARCH
        while reason == AGAIN and missing:
            found.append(self._claim_few(worker, missing, labels))
            missing -= len(found[-1].begun)
            reason = found[-1].reason
        if reason == SEARCH and missing:
            try:
                found.append(self._claim_due(worker, missing, labels, only))
            except StateUnavailable:
                if not any(each.begun for each in found):
                    raise
        return found

    def _taken(
        self, found: Sequence[Claimed], refused: Callable[[RefusedTask], None]
    ) -> tuple[Assignment, ...]:
        for each in found:
            self._remember(each)
            for task in each.refused:
                refused(task)
        return tuple(
            self._with_token(assignment) for each in found for assignment in each.assignments
        )

    def _with_token(self, assignment: Assignment) -> Assignment:
        """Only a job in another system needs a token; a local worker has the ticket."""
        if assignment.kind is not TaskKind.HTTP:
            return assignment
        from lakeguard.access.task_tokens import TaskTokens  # loads cryptography

        context = self.context
        try:
            token = TaskTokens(context.keys, context.org_id).issue_for_timeout(
                assignment.ticket, context.clock(), assignment.timeout_seconds
            )
        except SettingsError as error:  # already claimed, so the attempt must fail with this reason
            _log.error("no task token can be signed: %s", error)
            return assignment
        return assignment.model_copy(update={"token": token})

    def _claim_few(self, worker: WorkerIdentity, limit: int, labels: frozenset[str]) -> Claimed:
        wanted = FewTasks(worker, limit, labels, self.context.dispatch, self._jobs.now())
        try:
            found = self.context.autocommit(lambda tx: claim_few(tx, wanted))
        except StateUnavailable:  # what was claimed all the same is given up when its lease ends
            return Claimed(reason=SEARCH)
        reached("task.claimed")
        return found

    def _claim_due(
        self, worker: WorkerIdentity, limit: int, labels: frozenset[str], only: str | None
    ) -> Claimed:
        rules = self.context.dispatch
        found = self.context.transact(
            lambda tx: claim_due(tx, worker, limit=limit, labels=labels, rules=rules, only=only)
        )
        reached("task.claimed")
        return found

    def _remember(self, found: Claimed) -> None:
        """For the next claims, and for the reports on these tasks."""
        self._jobs.add(found.jobs)
        if len(self._claimed) > _MOST_CLAIMED:  # their reports never came
            self._claimed.clear()
        for task, assignment in zip(found.begun, found.assignments, strict=True):
            if task.kind in REPORTED_KINDS:
                self._claimed[assignment.ticket.run_id] = ClaimedTask(task, assignment.outputs)

    @property
    def _is_postgresql(self) -> bool:
        return self.context.database.engine.dialect.name == "postgresql"

    def keep(self, tickets: Sequence[RunTicket]) -> Mapping[str, float]:
        context = self.context
        leases: dict[str, float] = {}
        for part in in_pieces(tickets, _AT_ONCE):
            leases |= context.transact(partial(keep, tickets=part, lease=context.dispatch.lease))
        return leases

    def hand_over(self, ticket: RunTicket) -> None:
        context = self.context
        context.transact(lambda tx: hand_over(tx, ticket))
        self._claimed.pop(ticket.run_id, None)

    def report(self, ticket: RunTicket, report: TaskReport) -> TaskAnswer:
        (answer,) = self._reported([(ticket, report)])
        if isinstance(answer, LakeGuardError):
            raise answer
        return answer

    def report_all(self, reports: Sequence[TicketedReport]) -> tuple[TaskAnswer | Failure, ...]:
        return _shown(self._reported(reports))

    def _reported(self, reports: Sequence[TicketedReport]) -> list[TaskAnswer | LakeGuardError]:
        """In batches, one transaction each; reports are idempotent."""
        few = self._few(reports)
        answers = {} if few is None else self._report_few(few)
        later = [each for each in reports if each[0].run_id not in answers]
        judged = list[TaskAnswer | LakeGuardError]()
        for piece in in_pieces(later, _AT_ONCE):
            judged += self.context.transact(partial(self._written, reports=piece))
        reached("report.recorded")
        return _in_order(reports, answers, judged)

    def _written(
        self, tx: Transaction, reports: Sequence[TicketedReport]
    ) -> list[TaskAnswer | LakeGuardError]:
        answers = report_all(tx, reports, self.context.dispatch)
        reached("report.written")
        return answers

    def _few(self, reports: Sequence[TicketedReport]) -> FewReports | None:
        """Reports on tasks that were claimed here, if one statement can do it."""
        known = (self._claimed.pop(ticket.run_id, None) for ticket, _ in reports)
        claimed = [task for task in known if task is not None]
        if len(claimed) < len(reports) or len(claimed) > FEW_TASKS or not self._is_postgresql:
            return None
        return FewReports(reports, claimed, self.context.dispatch)

    def _report_few(self, few: FewReports) -> Answers:
        reached("report.written")  # before the statement, which commits by itself
        try:
            return self.context.autocommit(lambda tx: report_few(tx, few))
        except StateUnavailable:  # perhaps after its commit: a repeated report gets its answer
            return {}

    def report_and_claim(
        self,
        reports: Sequence[TicketedReport],
        worker: WorkerIdentity,
        *,
        labels: frozenset[str] = frozenset(),
        refused: Callable[[RefusedTask], None] = lambda _: None,
    ) -> tuple[tuple[TaskAnswer | Failure, ...], tuple[Assignment, ...]]:
        answers, found = self._exchanged_few(reports, worker, labels)
        later = [each for each in reports if each[0].run_id not in answers]
        judged = list[TaskAnswer | LakeGuardError]()
        for piece in in_pieces(later, _AT_ONCE):
            work = partial(self._exchanged, reports=piece, worker=worker, labels=labels)
            more, claimed = self.context.transact(work)
            judged += more
            found.append(claimed)
        reached("report.recorded")
        return _shown(_in_order(reports, answers, judged)), self._taken(found, refused)

    def _exchanged(
        self,
        tx: Transaction,
        reports: Sequence[TicketedReport],
        worker: WorkerIdentity,
        labels: frozenset[str],
    ) -> tuple[list[TaskAnswer | LakeGuardError], Claimed]:
        answers = self._written(tx, reports)
        ended = sum(isinstance(each, TaskAnswer) for each in answers)
        if not ended:
            return answers, Claimed()
        rules = self.context.dispatch
        return answers, claim_due(
            tx, worker, limit=ended, labels=labels, rules=rules, patient=False
        )

    def _exchanged_few(
        self, reports: Sequence[TicketedReport], worker: WorkerIdentity, labels: frozenset[str]
    ) -> tuple[Answers, list[Claimed]]:
        few, rules = self._few(reports), self.context.dispatch
        if few is None:
            return {}, []
        wanted = FewTasks(worker, len(reports), labels, rules, self._jobs.now(), patient=False)
        reached("report.written")  # before the statement, which commits by itself
        try:
            answers, found = self.context.autocommit(
                lambda tx: report_and_claim_few(tx, few, wanted)
            )
        except StateUnavailable:  # perhaps after its commit: a repeated report gets its answer
            return {}, []
        missing = len(answers) - len(found.begun)
        more = list[Claimed]()
        if missing and found.reason != ALL:
            more = self._claim_at_once(replace(wanted, limit=missing), found.reason)
        return answers, [found, *more]

    def _claim_at_once(self, wanted: FewTasks, reason: str) -> list[Claimed]:
        """Of jobs that no other claim holds for long: those who reported wait for their answers."""
        found = list[Claimed]()
        with suppress(StateUnavailable):  # what was claimed all the same is given up, as ever
            if reason == AGAIN:
                found.append(self.context.autocommit(lambda tx: claim_few(tx, wanted)))
                reason = found[0].reason
            left = wanted.limit - sum(len(each.begun) for each in found)
            if reason == SEARCH and left:
                found.append(
                    self.context.transact(
                        lambda tx: claim_due(
                            tx,
                            wanted.worker,
                            limit=left,
                            labels=wanted.labels,
                            rules=wanted.rules,
                            patient=False,
                        )
                    )
                )
        reached("task.claimed")
        return found


def _in_order(
    reports: Sequence[TicketedReport],
    answers: Answers,
    judged: Sequence[TaskAnswer | LakeGuardError],
) -> list[TaskAnswer | LakeGuardError]:
    """Answers in the order of the reports: those that are known by run, and the others."""
    others = iter(judged)
    return [answers.get(ticket.run_id) or next(others) for ticket, _ in reports]


def _shown(answers: Sequence[TaskAnswer | LakeGuardError]) -> tuple[TaskAnswer | Failure, ...]:
    return tuple(failure_of(each) if isinstance(each, LakeGuardError) else each for each in answers)

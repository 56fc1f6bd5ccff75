"""The dispatch port of the embedded control plane."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from lakeguard.dispatch.attempt_ends import REPORTED_KINDS
from lakeguard.dispatch.claim import Claimed, claim_due
from lakeguard.dispatch.claim_few import FEW, KnownJobs, claim_few
from lakeguard.dispatch.leases import hand_over, keep
from lakeguard.dispatch.report import ClaimedTask, report_all, report_claimed
from lakeguard.promotion.context import PlaneContext
from lakeguard.state.bulk_writes import in_pieces
from lakeguard.state.claim_function import AGAIN, SEARCH
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.errors import LakeGuardError, StateUnavailable
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
        found, missing = list[Claimed](), min(limit, _AT_ONCE)
        reason = AGAIN if only is None and limit <= FEW and self._is_postgresql else SEARCH
        while reason == AGAIN and missing:
            found.append(self._claim_few(worker, missing, labels))
            missing -= len(found[-1].begun)
            reason = found[-1].reason
        if reason == SEARCH and missing:
            found.append(self._searched(worker, missing, labels, only, anyway=missing < limit))
        for each in found:
            self._remember(each)
            for task in each.refused:
                refused(task)
        return tuple(assignment for each in found for assignment in each.assignments)

    def _claim_few(self, worker: WorkerIdentity, limit: int, labels: frozenset[str]) -> Claimed:
        context, known = self.context, self._jobs
        try:
            found = context.autocommit(
                lambda tx: claim_few(
                    tx, worker, limit=limit, labels=labels, rules=context.dispatch, known=known
                )
            )
        except StateUnavailable:  # what was claimed all the same is given up when its lease ends
            return Claimed(reason=SEARCH)
        reached("task.claimed")
        return found

    def _searched(
        self,
        worker: WorkerIdentity,
        limit: int,
        labels: frozenset[str],
        only: str | None,
        *,
        anyway: bool,
    ) -> Claimed:
        """Tasks of the whole queue; none if the State is away and there are others ``anyway``."""
        context = self.context
        try:
            found = context.transact(
                lambda tx: claim_due(
                    tx, worker, limit=limit, labels=labels, rules=context.dispatch, only=only
                )
            )
        except StateUnavailable:
            if anyway:
                return Claimed()
            raise
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

    def report_all(
        self, reports: Sequence[tuple[RunTicket, TaskReport]]
    ) -> tuple[TaskAnswer | Failure, ...]:
        return tuple(
            failure_of(each) if isinstance(each, LakeGuardError) else each
            for each in self._reported(reports)
        )

    def _reported(
        self, reports: Sequence[tuple[RunTicket, TaskReport]]
    ) -> list[TaskAnswer | LakeGuardError]:
        """In batches, one transaction each; reports are idempotent."""
        answers: list[TaskAnswer | LakeGuardError] = []
        for piece in in_pieces(reports, _AT_ONCE):
            answers += self._set_reported(piece)
        reached("report.recorded")
        return answers

    def _set_reported(
        self, reports: Sequence[tuple[RunTicket, TaskReport]]
    ) -> list[TaskAnswer | LakeGuardError]:
        context = self.context
        quick = self._claimed_reported(reports)
        if quick is not None:
            return quick

        def work(tx: Transaction) -> list[TaskAnswer | LakeGuardError]:
            answers = report_all(tx, reports, context.dispatch)
            reached("report.written")
            return answers

        return context.transact(work)

    def _claimed_reported(
        self, reports: Sequence[tuple[RunTicket, TaskReport]]
    ) -> list[TaskAnswer | LakeGuardError] | None:
        """A few reports on tasks that were claimed here, where one statement can do it."""
        context = self.context
        known = (self._claimed.pop(ticket.run_id, None) for ticket, _ in reports)
        claimed = [task for task in known if task is not None]
        if len(claimed) < len(reports) or len(claimed) > FEW or not self._is_postgresql:
            return None
        reached("report.written")  # before the statement, which commits by itself
        try:
            return context.autocommit(
                lambda tx: report_claimed(tx, reports, claimed, context.dispatch)
            )
        except StateUnavailable:  # perhaps after its commit: a repeated report gets its answer
            return None

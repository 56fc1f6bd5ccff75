"""The dispatch port of the embedded control plane."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from lakeguard.dispatch.attempt_ends import REPORTED_KINDS
from lakeguard.dispatch.claim import Claimed, claim_due
from lakeguard.dispatch.claim_one import KnownJobs, claim_one
from lakeguard.dispatch.leases import hand_over, keep
from lakeguard.dispatch.report import ClaimedTask, report_all, report_claimed
from lakeguard.promotion.context import PlaneContext
from lakeguard.state.bulk_writes import in_pieces
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
        context = self.context
        if limit < 1:
            return ()
        found = self._claim_one(worker, labels) if limit == 1 and only is None else None
        if found is None:
            found = context.transact(
                lambda tx: claim_due(
                    tx,
                    worker,
                    limit=min(limit, _AT_ONCE),
                    labels=labels,
                    rules=context.dispatch,
                    only=only,
                )
            )
        reached("task.claimed")
        self._jobs.add(found.jobs)
        for each in found.refused:
            refused(each)
        if len(self._claimed) > _MOST_CLAIMED:  # their reports never came
            self._claimed.clear()
        for task, assignment in zip(found.begun, found.assignments, strict=True):
            if task.kind in REPORTED_KINDS:
                self._claimed[assignment.ticket.run_id] = ClaimedTask(task, assignment.outputs)
        return tuple(found.assignments)

    def _claim_one(self, worker: WorkerIdentity, labels: frozenset[str]) -> Claimed | None:
        """None if a transaction is needed."""
        context = self.context
        if not self._is_postgresql:
            return None
        try:
            return context.autocommit(
                lambda tx: claim_one(tx, worker, labels, context.dispatch, self._jobs)
            )
        except StateUnavailable:  # if it was claimed all the same, its lease runs out
            return None

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
        """One report on a task that was claimed here, where one statement can do it."""
        context = self.context
        claimed = [self._claimed.pop(ticket.run_id, None) for ticket, _ in reports]
        task = claimed[0] if len(claimed) == 1 else None
        if task is None or not self._is_postgresql:
            return None
        (report,) = reports
        reached("report.written")  # before the statement, which commits by itself
        try:
            answer = context.autocommit(
                lambda tx: report_claimed(tx, report, task, context.dispatch)
            )
        except StateUnavailable:  # perhaps after its commit: a repeated report gets its answer
            return None
        return None if answer is None else [answer]

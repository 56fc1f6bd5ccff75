"""The dispatch port of the embedded control plane."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from lakeguard.dispatch.claim import claim_due
from lakeguard.dispatch.leases import hand_over, keep
from lakeguard.dispatch.report import report_all
from lakeguard.promotion.context import PlaneContext
from lakeguard.state.bulk_writes import in_pieces
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.errors import LakeGuardError
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


@dataclass(frozen=True)
class EmbeddedDispatch:
    context: PlaneContext

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
        found, off = context.transact(
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
        for each in off:
            refused(each)
        return tuple(found)

    def keep(self, tickets: Sequence[RunTicket]) -> Mapping[str, float]:
        context = self.context
        leases: dict[str, float] = {}
        for part in in_pieces(tickets, _AT_ONCE):
            leases |= context.transact(partial(keep, tickets=part, lease=context.dispatch.lease))
        return leases

    def hand_over(self, ticket: RunTicket) -> None:
        context = self.context
        context.transact(lambda tx: hand_over(tx, ticket))

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

        def work(tx: Transaction) -> list[TaskAnswer | LakeGuardError]:
            answers = report_all(tx, reports, context.dispatch)
            reached("report.written")
            return answers

        return context.transact(work)

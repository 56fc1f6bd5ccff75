"""The dispatch port of the embedded control plane: the queue as workers see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from lakeguard.dispatch.reporting import report_all
from lakeguard.promotion.heart import Heart
from lakeguard_sdk.dispatch import TaskAnswer, TaskReport
from lakeguard_sdk.errors import LakeGuardError
from lakeguard_sdk.faultpoints import reached
from lakeguard_sdk.run import Failure, RunTicket

_AT_ONCE = 1_000
"""Reports in one set of statements."""


@dataclass(frozen=True)
class EmbeddedDispatch:
    heart: Heart

    def report(self, ticket: RunTicket, report: TaskReport) -> TaskAnswer:
        (answer,) = self._reported([(ticket, report)])
        if isinstance(answer, LakeGuardError):
            raise answer
        return answer

    def report_all(
        self, reports: Sequence[tuple[RunTicket, TaskReport]]
    ) -> tuple[TaskAnswer | Failure, ...]:
        return tuple(
            Failure(code=each.code, message=str(each), retryable=each.retryable)
            if isinstance(each, LakeGuardError)
            else each
            for each in self._reported(reports)
        )

    def _reported(
        self, reports: Sequence[tuple[RunTicket, TaskReport]]
    ) -> list[TaskAnswer | LakeGuardError]:
        heart = self.heart

        def work(connection: Connection) -> list[TaskAnswer | LakeGuardError]:
            answers: list[TaskAnswer | LakeGuardError] = []
            for start in range(0, len(reports), _AT_ONCE):
                part = reports[start : start + _AT_ONCE]
                answers += report_all(connection, heart.org_id, part, heart.dispatch, heart.clock())
            reached("report.written")
            return answers

        answers = heart.database.transact(work)
        reached("report.recorded")
        return answers

"""Trends: each check's results over previous runs, from recorded decisions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import select

from lakeguard.insight.comparison.run_facts import NO_BUILDS
from lakeguard.state.schema import decisions, run_history, tasks
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import CheckKind, Outcome
from lakeguard_sdk.model.decision import CheckResult, Ruling
from lakeguard_sdk.model.read_models import RunRow
from lakeguard_sdk.model.run_comparison import CheckPoint, CheckTrend

Key = tuple[CheckKind, str]


class _Decided(NamedTuple):
    run_id: str
    ended_at: datetime
    checks: dict[Key, CheckResult]


def check_trends(tx: Transaction, run: RunRow, limit: int) -> tuple[CheckTrend, ...]:
    """Trends of all checks of the run, in gate order, over at most ``limit`` runs including itself.

    One query for all. Runs that never reached the gate are included, as not evaluated.
    """
    found = _decided(tx, run, limit)
    own = found[-1].checks if found and found[-1].run_id == run.run_id else {}
    return tuple(
        CheckTrend(kind=kind, check_id=check_id, points=_points(found, (kind, check_id)))
        for kind, check_id in own
    )


def _decided(tx: Transaction, run: RunRow, limit: int) -> list[_Decided]:
    """The run and its predecessors, oldest first."""
    history = run_history.c
    own = select(history.ordinal).where(history.run_id == run.run_id).scalar_subquery()
    rows = tx.execute(
        select(history.run_id, history.end_time, decisions.c.ruling)
        .join(tasks, tasks.c.task_id == history.task_id)
        .join(decisions, decisions.c.decision_id == history.decision_id, isouter=True)
        .where(
            history.org_id == tx.org_id,
            history.dataset_id == run.dataset_id,
            tasks.c.kind.not_in(NO_BUILDS),
            history.ordinal <= own,
        )
        .order_by(history.ordinal.desc())
        .limit(limit)
    ).all()
    return [_Decided(row.run_id, row.end_time, _checks(row.ruling)) for row in reversed(rows)]


def _checks(ruling: str | None) -> dict[Key, CheckResult]:
    checks = Ruling.from_json(ruling).checks if ruling else ()
    return {(check.kind, check.check_id): check for check in checks}


def _points(found: Sequence[_Decided], key: Key) -> tuple[CheckPoint, ...]:
    return tuple(_point(decided, decided.checks.get(key)) for decided in found)


def _point(decided: _Decided, check: CheckResult | None) -> CheckPoint:
    run_id, ended_at = decided.run_id, decided.ended_at
    if check is None:
        return CheckPoint(run_id=run_id, ended_at=ended_at, outcome=Outcome.NOT_EVALUATED)
    return CheckPoint(
        run_id=run_id,
        ended_at=ended_at,
        outcome=check.outcome,
        failed_rows=check.failed_rows,
        scope_rows=check.scope_rows,
        observed=check.observed,
    )

"""Promotion status history: may a dataset move from one layer to the next?

Every row is checked against the allowed transitions: a registration against the last state of the
route, the effects of a decision against that decision's own rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Row, select

from lakeguard.state import outbox
from lakeguard.state.schema import promotion_current, promotion_status
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import Outcome, PromotionState, Verdict
from lakeguard_sdk.errors import PromotionRefused
from lakeguard_sdk.model.decision import CheckResult, Decision, Ruling, Step, may_follow


class PromotionRoute(NamedTuple):
    """A dataset and the layers it moves between."""

    dataset_id: str
    from_layer: str
    to_layer: str


def record_registrations(tx: Transaction, routes: Iterable[PromotionRoute], at: datetime) -> None:
    """Record the first state of each route; existing states are kept."""
    wanted, first = list(dict.fromkeys(routes)), PromotionState.REGISTERED
    known = _states(tx, wanted)
    rows = [
        {
            **route._asdict(),
            "allowed": False,
            "evaluated_at": at,
            "reason": "registered; nothing was decided yet",
            "org_id": tx.org_id,
            "state": first.value,
            "run_id": None,
            "decision_id": None,
        }
        for route in wanted
        if may_follow(Step.REGISTRATION, known.get(route), first)
    ]
    outbox.record(tx, promotion_status, rows, at)


def record_evaluation(
    tx: Transaction, decision: Decision, from_layer: str, occasion: str = ""
) -> None:
    """Record the state that a decision leads to, once per decision.

    ``occasion`` says what was decided, if it is not a new version.
    """
    route = PromotionRoute(decision.dataset_id, from_layer, decision.dataset.layer.value)
    state = PromotionState.ELIGIBLE if decision.allowed else PromotionState.BLOCKED
    own = _last_state(tx, decision)
    before = None if own is None else PromotionState(own.state)
    if not may_follow(Step.EVALUATION, before, state):
        raise _refused(decision, Step.EVALUATION, before, state)
    found = reason_of(decision.ruling)
    _append(tx, decision, route, state, f"{occasion}: {found}" if occasion else found)


def record_promotion(tx: Transaction, decision: Decision) -> None:
    """Record PROMOTED; refused if the decision did not allow it or was used already.

    The layers are those of the decision, even if the definition has changed.
    """
    own = _last_state(tx, decision)
    before = None if own is None else PromotionState(own.state)
    if own is None or not may_follow(Step.MOVE, before, PromotionState.PROMOTED):
        raise _refused(decision, Step.MOVE, before, PromotionState.PROMOTED)
    route = PromotionRoute(own.dataset_id, own.from_layer, own.to_layer)
    _append(tx, decision, route, PromotionState.PROMOTED, own.reason)


def reason_of(ruling: Ruling) -> str:
    """What blocked, else what passed: failures that were waived, warnings, checks without an
    answer, and how many checks passed."""
    if ruling.verdict is Verdict.BLOCKED:
        return "; ".join(ruling.reasons)
    checks = ruling.checks
    waived = [check for check in checks if check.waived_by]
    warned = [check for check in checks if check.outcome is Outcome.WARN and not check.waived_by]
    unanswered = [check for check in checks if check.outcome is Outcome.NOT_EVALUATED]
    passed = sum(check.outcome is Outcome.PASS for check in checks)
    parts = [f"waived: {_line(check)}, by {check.waived_by}" for check in waived]
    parts += [f"warning: {_line(check)}" for check in warned]
    parts += [_line(check) for check in unanswered]
    whole = "all checks passed" if not parts else f"{passed} of {len(checks)} checks passed"
    return "; ".join([*parts, whole])


def _line(check: CheckResult) -> str:
    return f"{check.check_id}: {check.message}"


def _append(
    tx: Transaction,
    decision: Decision,
    route: PromotionRoute,
    state: PromotionState,
    reason: str,
) -> None:
    row = {
        **route._asdict(),
        "allowed": decision.ruling.verdict is Verdict.ALLOWED,
        "evaluated_at": decision.ruling.decided_at,
        "reason": reason,
        "org_id": tx.org_id,
        "state": state.value,
        "run_id": decision.run_id,
        "decision_id": decision.decision_id,
    }
    outbox.record(tx, promotion_status, [row], decision.ruling.decided_at)


def _last_state(tx: Transaction, decision: Decision) -> Row[Any] | None:
    table = promotion_status.c
    of_decision = (table.dataset_id == decision.dataset_id) & (
        table.decision_id == decision.decision_id
    )
    last = select(promotion_status).where(of_decision).order_by(table.ordinal.desc()).limit(1)
    return tx.execute(last).first()


def _states(tx: Transaction, routes: list[PromotionRoute]) -> dict[PromotionRoute, PromotionState]:
    """The latest state per route."""
    if not routes:
        return {}
    view = promotion_current.c
    found = tx.execute(
        select(view.dataset_id, view.from_layer, view.to_layer, view.state).where(
            view.dataset_id.in_({route.dataset_id for route in routes})
        )
    )
    return {PromotionRoute(*row[:3]): PromotionState(row.state) for row in found}


def _refused(
    decision: Decision, step: Step, before: PromotionState | None, after: PromotionState
) -> PromotionRefused:
    return PromotionRefused(
        dataset=decision.dataset,
        before=before or "nothing",
        after=after,
        step=step,
        decision=decision.decision_id,
        run=decision.run_id,
    )

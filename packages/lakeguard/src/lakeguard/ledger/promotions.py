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
from lakeguard_sdk.core.enums import PromotionState, Verdict
from lakeguard_sdk.errors import PromotionRefused
from lakeguard_sdk.model.decision import Decision, Step, may_follow


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


def record_evaluation(tx: Transaction, decision: Decision, from_layer: str) -> None:
    """Record the state that a decision leads to, once per decision."""
    route = PromotionRoute(decision.dataset_id, from_layer, decision.dataset.layer.value)
    state = PromotionState.ELIGIBLE if decision.allowed else PromotionState.BLOCKED
    own = _last_state(tx, decision)
    before = None if own is None else PromotionState(own.state)
    if not may_follow(Step.EVALUATION, before, state):
        raise _refused(decision, Step.EVALUATION, before, state)
    _append(tx, decision, route, state)


def record_promotion(tx: Transaction, decision: Decision) -> None:
    """Record PROMOTED; refused if the decision did not allow it or was used already.

    The layers are those of the decision, even if the definition has changed.
    """
    own = _last_state(tx, decision)
    before = None if own is None else PromotionState(own.state)
    if own is None or not may_follow(Step.MOVE, before, PromotionState.PROMOTED):
        raise _refused(decision, Step.MOVE, before, PromotionState.PROMOTED)
    route = PromotionRoute(own.dataset_id, own.from_layer, own.to_layer)
    _append(tx, decision, route, PromotionState.PROMOTED)


def _append(
    tx: Transaction, decision: Decision, route: PromotionRoute, state: PromotionState
) -> None:
    row = {
        **route._asdict(),
        "allowed": decision.ruling.verdict is Verdict.ALLOWED,
        "evaluated_at": decision.ruling.decided_at,
        "reason": "; ".join(decision.ruling.reasons) or "all checks passed",
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

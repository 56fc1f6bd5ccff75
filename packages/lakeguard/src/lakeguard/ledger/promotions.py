"""The history of "yes" and "no": may a dataset move from one layer to the next?

Every row is held to the states that may follow each other. Two runs of a dataset may be under way
at once, so that what a decision leads to is held against what that decision said, and not against
what another said meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, select

from lakeguard.state import facts
from lakeguard.state.tables import promotion_status
from lakeguard_sdk.decision import Decision
from lakeguard_sdk.promotion_errors import PromotionRefused
from lakeguard_sdk.promotion_states import Step, may_follow
from lakeguard_sdk.words import PromotionState, Verdict


class Way(NamedTuple):
    """A dataset and the layers that it moves between."""

    dataset_id: str
    from_layer: str
    to_layer: str


def record_registrations(
    connection: Connection, org_id: str, ways: Iterable[Way], at: datetime
) -> None:
    """The first state of each way; one that has a state already keeps it."""
    asked = list(dict.fromkeys(ways))
    known = _known(connection, asked)
    rows = [
        {
            **way._asdict(),
            "allowed": False,
            "evaluated_at": at,
            "reason": "registered; nothing was decided yet",
            "org_id": org_id,
            "state": PromotionState.REGISTERED.value,
            "run_id": None,
            "decision_id": None,
        }
        for way in asked
        if way not in known
    ]
    facts.record(connection, promotion_status, rows, at)


def record_evaluation(
    connection: Connection, org_id: str, decision: Decision, from_layer: str
) -> None:
    """The answer of a decision, whatever was said of the dataset before; it answers once."""
    way = Way(decision.dataset_id, from_layer, decision.dataset.layer.value)
    state = PromotionState.ELIGIBLE if decision.allowed else PromotionState.BLOCKED
    own = _said_by(connection, decision)
    if own is not None:
        raise _refused(decision, Step.MOVE, PromotionState(own.state), state)
    table = promotion_status.c
    layers = (table.from_layer == way.from_layer) & (table.to_layer == way.to_layer)
    last = _last(connection, (table.dataset_id == way.dataset_id) & layers)
    before = PromotionState.REGISTERED if last is None else PromotionState(last.state)
    if not may_follow(Step.EVALUATION, before, state):
        raise _refused(decision, Step.EVALUATION, before, state)
    _append(connection, org_id, decision, way, state)


def record_promotion(connection: Connection, org_id: str, decision: Decision) -> None:
    """What the decision allowed is visible now; refused where it allowed nothing, or did already.

    The layers are those that it was made for, whatever the definition says by now.
    """
    own = _said_by(connection, decision)
    before = None if own is None else PromotionState(own.state)
    if own is None or not may_follow(Step.MOVE, before, PromotionState.PROMOTED):
        raise _refused(decision, Step.MOVE, before, PromotionState.PROMOTED)
    way = Way(own.dataset_id, own.from_layer, own.to_layer)
    _append(connection, org_id, decision, way, PromotionState.PROMOTED)


def _append(
    connection: Connection, org_id: str, decision: Decision, way: Way, state: PromotionState
) -> None:
    row = {
        **way._asdict(),
        "allowed": decision.ruling.verdict is Verdict.ALLOWED,
        "evaluated_at": decision.ruling.decided_at,
        "reason": "; ".join(decision.ruling.reasons) or "all checks passed",
        "org_id": org_id,
        "state": state.value,
        "run_id": decision.run_id,
        "decision_id": decision.decision_id,
    }
    facts.record(connection, promotion_status, [row], decision.ruling.decided_at)


def _said_by(connection: Connection, decision: Decision) -> Row[Any] | None:
    table = promotion_status.c
    named = table.decision_id == decision.decision_id
    return _last(connection, (table.dataset_id == decision.dataset_id) & named)


def _last(connection: Connection, condition: ColumnElement[bool]) -> Row[Any] | None:
    last = select(promotion_status).where(condition)
    return connection.execute(last.order_by(promotion_status.c.ordinal.desc()).limit(1)).first()


def _known(connection: Connection, ways: list[Way]) -> set[Way]:
    table = promotion_status.c
    key = (table.dataset_id, table.from_layer, table.to_layer)
    found = select(*key).where(table.dataset_id.in_({way.dataset_id for way in ways})).distinct()
    return {Way(*row) for row in connection.execute(found)} if ways else set()


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

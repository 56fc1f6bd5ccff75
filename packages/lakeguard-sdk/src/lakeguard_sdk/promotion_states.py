"""The promotion states of a dataset on its way to a layer, and which of them may follow which.

    REGISTERED ─► ELIGIBLE ─► PROMOTED
        └───────► BLOCKED

From any of them a new decision leads to ELIGIBLE or BLOCKED again. What a decision said itself is
never taken back: nothing but PROMOTED follows its ELIGIBLE, and nothing follows its BLOCKED.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from lakeguard_sdk.words import PromotionState

_S = PromotionState
_ANSWERS = frozenset({_S.ELIGIBLE, _S.BLOCKED})
_NOTHING: frozenset[PromotionState] = frozenset()


class Step(StrEnum):
    """What leads from one state to the next."""

    REGISTRATION = "registration"
    """The dataset, or the layer that it is built from, is new."""
    EVALUATION = "evaluation"
    """A decision answers for the first time; before it stands what others left."""
    MOVE = "move"
    """What a decision allowed becomes visible; before it stands what that decision said itself."""


MAY_FOLLOW: Mapping[Step, Mapping[PromotionState | None, frozenset[PromotionState]]] = {
    Step.REGISTRATION: {
        None: frozenset({_S.REGISTERED}),
        **dict.fromkeys(_S, _NOTHING),
    },
    Step.EVALUATION: {
        None: _NOTHING,
        **dict.fromkeys(_S, _ANSWERS),
    },
    Step.MOVE: {
        **dict.fromkeys((None, *_S), _NOTHING),
        _S.ELIGIBLE: frozenset({_S.PROMOTED}),
    },
}
"""By step and by the state before, all that may come next; None is before any state."""


def may_follow(step: Step, before: PromotionState | None, after: PromotionState) -> bool:
    return after in MAY_FOLLOW[step][before]

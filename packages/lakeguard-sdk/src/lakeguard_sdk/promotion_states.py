"""The promotion states of a dataset on its way to a layer, and which of them may follow which.

    REGISTERED ─► ELIGIBLE ─► PROMOTED
        └───────► BLOCKED

A new decision leads from any of them to ELIGIBLE or BLOCKED again. What a decision said itself is
never taken back: it answers once, nothing but PROMOTED follows its ELIGIBLE, and nothing follows
its BLOCKED.
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
    """The dataset, or the layer that it is built from, is new; before it stands what was said of
    that way."""
    EVALUATION = "evaluation"
    """A decision answers; before it stands what that decision said itself, and not what others
    left: two runs of a dataset may be under way at once."""
    MOVE = "move"
    """What a decision allowed becomes visible; before it stands the same."""


MAY_FOLLOW: Mapping[Step, Mapping[PromotionState | None, frozenset[PromotionState]]] = {
    Step.REGISTRATION: {
        None: frozenset({_S.REGISTERED}),
        **dict.fromkeys(_S, _NOTHING),
    },
    Step.EVALUATION: {
        None: _ANSWERS,
        **dict.fromkeys(_S, _NOTHING),
    },
    Step.MOVE: {
        **dict.fromkeys((None, *_S), _NOTHING),
        _S.ELIGIBLE: frozenset({_S.PROMOTED}),
    },
}
"""By step and by the state before, all that may come next; None is before any state."""


def may_follow(step: Step, before: PromotionState | None, after: PromotionState) -> bool:
    return after in MAY_FOLLOW[step][before]

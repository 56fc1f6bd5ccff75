"""Which promotion state may follow which: every pair, in every step."""

from __future__ import annotations

from itertools import product

import pytest

from lakeguard_sdk.core.enums import PromotionState
from lakeguard_sdk.model.decision import MAY_FOLLOW, Step, may_follow

BEFORE = (None, *PromotionState)
ALLOWED = {
    "registration": {"- REGISTERED"},
    "evaluation": {"- ELIGIBLE", "- BLOCKED"},
    "move": {"ELIGIBLE PROMOTED"},
}


@pytest.mark.parametrize("step", Step)
def test_every_transition(step: Step) -> None:
    for before, after in product(BEFORE, PromotionState):
        words = f"{before or '-'} {after}"
        assert may_follow(step, before, after) is (words in ALLOWED[step]), (step, words)


def test_every_state_is_answered_for_in_every_step() -> None:
    assert set(MAY_FOLLOW) == set(Step)
    for answers in MAY_FOLLOW.values():
        assert set(answers) == set(BEFORE)


def test_every_state_can_be_reached_and_every_step_refuses_something() -> None:
    answers = [found for step in MAY_FOLLOW.values() for found in step.values()]
    assert frozenset().union(*answers) == set(PromotionState)
    for step, found in MAY_FOLLOW.items():
        assert any(found.values()), step
        assert not all(found.values()), step


def test_nothing_is_promoted_but_what_is_eligible() -> None:
    """A block is not overcome without another decision, and a promotion not taken back."""
    for step, before in product(Step, BEFORE):
        promoted = may_follow(step, before, PromotionState.PROMOTED)
        assert promoted is (step is Step.MOVE and before is PromotionState.ELIGIBLE)

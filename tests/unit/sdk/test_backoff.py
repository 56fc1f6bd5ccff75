"""Delays between attempts: they grow, they end growing, and chance spreads them."""

from __future__ import annotations

from itertools import islice

import pytest

from lakeguard_sdk.backoff import Backoff, jitter


def test_delays_double_up_to_the_longest() -> None:
    backoff = Backoff(first=0.5, longest=8.0)
    assert list(islice(backoff.delays(), 7)) == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0]
    assert backoff.after(5) == 8.0


def test_the_factor_is_a_choice() -> None:
    assert [Backoff(30, 300, factor=3).after(attempt) for attempt in (1, 2, 3, 4)] == [
        30.0,
        90.0,
        270.0,
        300.0,
    ]


def test_a_delay_can_be_computed_however_often_something_failed() -> None:
    assert Backoff(86_400, 86_400, factor=3).after(1_000_000) == 86_400


@pytest.mark.parametrize(("chance", "expected"), [(0.0, 2.0), (0.5, 3.0), (1.0, 4.0)])
def test_jitter_leaves_between_half_of_a_delay_and_all_of_it(
    chance: float, expected: float
) -> None:
    assert jitter(4.0, lambda: chance) == expected
    assert next(Backoff(first=4.0).jittered(lambda: chance)) == expected

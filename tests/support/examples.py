"""How many examples a test draws, by profile.

A test states how many make a thorough search. ``quick`` draws few of them (``make test``),
``steady`` less than half (``make soak``), ``whole`` all, and ``explore`` ten times as many, of a
new choice each time: for a change that deserves it.
"""

from __future__ import annotations

import math
from typing import Any

from hypothesis import settings

QUICK, STEADY, WHOLE, EXPLORED = 25, 40, 100, 1_000
"""The examples of a test that states nothing, by profile."""


def draws(count: int, *, quick: int | None = None) -> int:
    """``count`` in ``whole``; in ``quick`` a quarter, or what is given."""
    if quick is not None and is_quick():
        return quick
    return math.ceil(count * _stated_nothing() / WHOLE)


def is_quick() -> bool:
    return _stated_nothing() == QUICK


def examples(count: int, *, quick: int | None = None, **more: Any) -> settings:
    return settings(max_examples=draws(count, quick=quick), deadline=None, **more)


def _stated_nothing() -> int:
    return settings.get_profile(settings.get_current_profile_name()).max_examples

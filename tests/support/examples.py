"""How many examples a test draws: what it says in ``make soak``, a quarter in ``make test``."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import settings

WHOLE = 100
"""The examples of a test that says nothing, in the profiles ``steady`` and ``explore``."""
QUICK = 25


def examples(count: int, **more: Any) -> settings:
    """``count`` examples in a whole run, and its share of them in the profile ``quick``."""
    share = settings.get_profile(settings.get_current_profile_name()).max_examples / WHOLE
    return settings(max_examples=math.ceil(count * share), deadline=None, **more)

"""How long a worker waits before it asks again; chance keeps many from asking at once."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from lakeguard_sdk.errors import LakeGuardError
from lakeguard_sdk.state_errors import StateUnavailable

FIRST_SECONDS = 0.5
LONGEST_SECONDS = 30.0

Chance = Callable[[], float]


def spread(seconds: float, chance: Chance = random.random) -> float:
    """Between half of it and all of it."""
    return seconds * (1 + chance()) / 2


def growing_pauses(chance: Chance = random.random) -> Iterator[float]:
    """Each twice as long as the one before, up to the longest."""
    seconds = FIRST_SECONDS
    while True:
        yield spread(seconds, chance)
        seconds = min(2 * seconds, LONGEST_SECONDS)


def is_waited_out(error: LakeGuardError) -> bool:
    """Who was served before asks on, even where a State lets nobody in: after a restart of the
    server, or while its password is changed, somebody may set that right."""
    return error.retryable or isinstance(error, StateUnavailable)

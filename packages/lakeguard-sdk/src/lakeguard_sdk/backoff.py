"""Exponential backoff with jitter."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count

Chance = Callable[[], float]
"""Returns a number in [0, 1); injected for tests."""

_MOST_STEPS = 40
"""Delays stop growing here, so that the powers stay small."""


@dataclass(frozen=True)
class Backoff:
    """Each delay is ``factor`` times the one before, up to ``longest``. All in seconds."""

    first: float
    longest: float = float("inf")
    factor: int = 2

    def after(self, attempt: int) -> float:
        """The delay after that many failed attempts."""
        steps = min(attempt - 1, _MOST_STEPS)
        return float(min(self.first * self.factor**steps, self.longest))

    def delays(self) -> Iterator[float]:
        """The delay after each failed attempt, without end."""
        return (self.after(attempt) for attempt in count(1))

    def jittered(self, chance: Chance = random.random) -> Iterator[float]:
        return (jitter(delay, chance) for delay in self.delays())


def jitter(seconds: float, chance: Chance = random.random) -> float:
    """Between half of the delay and all of it, so that clients that failed together do not retry
    together."""
    return seconds * (1 + chance()) / 2

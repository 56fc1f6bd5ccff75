"""Exponential backoff: how long to wait before the next attempt."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count

Chance = Callable[[], float]
"""A number from 0 up to 1; an argument wherever a test wants to know it."""

_MOST_STEPS = 40
"""Beyond this no delay grows: it keeps powers small however often something failed."""


@dataclass(frozen=True)
class Backoff:
    """Each delay is ``factor`` times the one before, up to ``longest``. All in seconds."""

    first: float
    longest: float = float("inf")
    factor: int = 2

    def after(self, attempt: int) -> float:
        """The delay after that many failed attempts, counted from 1."""
        steps = min(attempt - 1, _MOST_STEPS)
        return float(min(self.first * self.factor**steps, self.longest))

    def delays(self) -> Iterator[float]:
        """The delay after each failed attempt; it never ends."""
        return (self.after(attempt) for attempt in count(1))

    def jittered(self, chance: Chance = random.random) -> Iterator[float]:
        return (jitter(delay, chance) for delay in self.delays())


def jitter(seconds: float, chance: Chance = random.random) -> float:
    """Between half of the delay and all of it, so that many who failed at once do not all come
    back at once."""
    return seconds * (1 + chance()) / 2

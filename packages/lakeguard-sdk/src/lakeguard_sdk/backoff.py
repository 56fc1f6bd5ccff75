"""Exponential backoff with jitter, and pauses that end early once the caller is stopped."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
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


# Pauses.

_LOOK_SECONDS = 0.2

_stopped: ContextVar[Callable[[], bool] | None] = ContextVar("stopped", default=None)


@contextmanager
def resting_until(stopped: Callable[[], bool]) -> Iterator[None]:
    """``rest`` returns early in this block once ``stopped`` is true."""
    before = _stopped.set(stopped)
    try:
        yield
    finally:
        _stopped.reset(before)


def rest(seconds: float) -> None:
    stopped = _stopped.get()
    if stopped is None:
        time.sleep(seconds)
        return
    until = time.monotonic() + seconds
    while not stopped() and (left := until - time.monotonic()) > 0:
        time.sleep(min(_LOOK_SECONDS, left))

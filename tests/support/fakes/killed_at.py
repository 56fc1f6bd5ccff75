"""Dying at a named point: what was done so far stays, nothing after it happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from lakeguard_sdk.storage import fault_points


class Killed(BaseException):
    """Not an Exception, so that no handler of ours can tidy up after it."""


@contextmanager
def dying_at(point: str | None) -> Iterator[None]:
    """Run the block; at ``point`` it stops as a killed process would."""

    def die(reached: str) -> None:
        if reached == point:
            raise Killed(point)

    stop = fault_points.listen(die)
    try:
        with suppress(Killed):
            yield
    finally:
        stop()


@contextmanager
def meanwhile(point: str | None, act: Callable[[], object], times: int = 1) -> Iterator[None]:
    """Run the block; the first ``times`` that it reaches ``point``, somebody else acts."""
    waiting = [act] * times

    def interfere(reached: str) -> None:
        if reached == point and waiting:
            waiting.pop()()

    stop = fault_points.listen(interfere)
    try:
        yield
    finally:
        stop()

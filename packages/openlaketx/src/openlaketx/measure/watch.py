"""A limit on how long measuring may take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from time import monotonic


class TooLate(Exception):
    """The time for measuring is over."""


class Watch:
    """Tells whether the time is over."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = monotonic() + seconds

    def check(self) -> None:
        if monotonic() >= self._end:
            raise TooLate(f"measuring took longer than {self.seconds:g} s")

    @contextmanager
    def running(self, stop: Callable[[], None]) -> Iterator[None]:
        """When the time is over, ``stop`` ends what is being asked; nothing is asked after."""
        timer = Timer(max(0.0, self._end - monotonic()), stop)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

"""The time limit for measuring."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic

_AGAIN_SECONDS = 0.5


class TimeLimitExceeded(Exception):
    """The time limit for measuring is exceeded."""


class TimeLimit:
    """Checks the time limit."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = monotonic() + seconds

    def check(self) -> None:
        if monotonic() >= self._end:
            raise TimeLimitExceeded(f"measuring took longer than {self.seconds:g} s")

    @contextmanager
    def running(self, stop: Callable[[], None]) -> Iterator[None]:
        """Calls ``stop`` when the time is up, repeatedly until the block ends.

        Repeated, because an engine that was just starting a query may have missed the first call.
        """
        done = Event()

        def end() -> None:
            wait = max(0.0, self._end - monotonic())
            while not done.wait(wait):
                stop()
                wait = _AGAIN_SECONDS

        thread = Thread(target=end, name="measure-watch", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

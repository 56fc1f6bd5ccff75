"""A limit on how long measuring may take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic

_AGAIN_SECONDS = 0.5


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
        """When the time is over, ``stop`` ends what is being asked; nothing is asked after.

        It is called again until the block is left: an engine that was just about to begin may
        not have heard it.
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

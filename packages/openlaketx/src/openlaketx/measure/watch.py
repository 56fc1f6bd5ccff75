"""A limit on how long measuring may take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Timer


class TooLate(Exception):
    """The time for measuring is over."""


class Watch:
    """Tells whether the time is over."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._over = Event()

    def check(self) -> None:
        if self._over.is_set():
            raise TooLate(f"measuring took longer than {self.seconds:g} s")

    @contextmanager
    def running(self, stop: Callable[[], None]) -> Iterator[None]:
        """When the time is over, ``stop`` ends what is being asked; nothing is asked after."""

        def end() -> None:
            self._over.set()
            stop()

        timer = Timer(self.seconds, end)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

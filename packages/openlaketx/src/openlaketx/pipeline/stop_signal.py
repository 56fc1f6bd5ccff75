"""Ctrl-C during a run: noticed even where the bridge to the JVM turns it into another error.

Python tells the main thread alone. Runs in other threads are told by a ``StopSign``.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType


class StopSign:
    """Ends every run that heeds it, in whatever thread, and keeps others from starting."""

    def __init__(self) -> None:
        self._given = threading.Event()
        self._changing = threading.Lock()
        self._brakes: list[Callable[[], None]] = []

    def is_given(self) -> bool:
        return self._given.is_set()

    def give(self) -> None:
        self._given.set()
        with self._changing:
            brakes = list(self._brakes)
        for brake in brakes:
            with suppress(Exception):  # what cannot be stopped ends by itself
                brake()

    def check(self) -> None:
        if self.is_given():
            raise KeyboardInterrupt

    @contextmanager
    def heeded(self, brake: Callable[[], None]) -> Iterator[None]:
        """``brake`` is pulled once the sign is given; one that was given before is not missed."""
        with self._changing:
            self._brakes.append(brake)
        try:
            self.check()
            yield
        finally:
            with self._changing:
                self._brakes.remove(brake)


@contextmanager
def noticing_interrupts(sign: StopSign) -> Iterator[Callable[[], bool]]:
    """Answers whether the sign is given or SIGINT came while the block ran.

    What SIGINT did before it still does.
    """
    seen = threading.Event()
    before = signal.getsignal(signal.SIGINT)

    def interrupted() -> bool:
        return seen.is_set() or sign.is_given()

    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield interrupted
        return

    def notice(number: int, frame: FrameType | None) -> None:
        seen.set()
        before(number, frame)

    signal.signal(signal.SIGINT, notice)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)

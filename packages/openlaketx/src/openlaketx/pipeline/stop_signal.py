"""Ctrl-C during a run, detected even where py4j turns it into another error.

Python delivers SIGINT to the main thread only; ``StopSignal`` stops runs in other threads.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType


class StopSign:
    """Stops every run that listens, in any thread, and prevents new ones."""

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
            with suppress(Exception):  # a run that cannot be cancelled ends by itself
                brake()

    def check(self) -> None:
        if self.is_given():
            raise KeyboardInterrupt

    @contextmanager
    def heeded(self, brake: Callable[[], None]) -> Iterator[None]:
        """Call ``cancel`` once the signal is set, also if it was set before."""
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
    """Yields a function: whether the signal is set or SIGINT arrived during the block.

    The previous SIGINT handler still runs.
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

"""Ctrl-C during a run, detected even where py4j turns it into another error.

Python delivers SIGINT to the main thread only; ``StopSignal`` stops runs in other threads.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType


class StopSignal:
    """Stops every run that listens, in any thread, and prevents new ones."""

    def __init__(self) -> None:
        self._set = threading.Event()
        self._changing = threading.Lock()
        self._listeners: list[Callable[[], None]] = []

    def is_set(self) -> bool:
        return self._set.is_set()

    def set(self) -> None:
        self._set.set()
        with self._changing:
            listeners = list(self._listeners)
        for cancel in listeners:
            with suppress(Exception):  # a run that cannot be cancelled ends by itself
                cancel()

    def check(self) -> None:
        if self.is_set():
            raise KeyboardInterrupt

    @contextmanager
    def listening(self, cancel: Callable[[], None]) -> Iterator[None]:
        """Call ``cancel`` once the signal is set, also if it was set before."""
        with self._changing:
            self._listeners.append(cancel)
        try:
            self.check()
            yield
        finally:
            with self._changing:
                self._listeners.remove(cancel)


@contextmanager
def detect_interrupts(stop: StopSignal) -> Iterator[Callable[[], bool]]:
    """Yields a function: whether the signal is set or SIGINT arrived during the block.

    The previous SIGINT handler still runs.
    """
    seen = threading.Event()
    before = signal.getsignal(signal.SIGINT)

    def interrupted() -> bool:
        return seen.is_set() or stop.is_set()

    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield interrupted
        return

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        seen.set()
        before(number, frame)

    signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)

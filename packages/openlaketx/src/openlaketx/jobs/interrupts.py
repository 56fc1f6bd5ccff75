"""Ctrl-C during a run: noticed even where the bridge to the JVM turns it into another error."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def noticing_interrupts() -> Iterator[Callable[[], bool]]:
    """Answers whether SIGINT came while the block ran; what it did before it still does."""
    seen = threading.Event()
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield seen.is_set
        return

    def notice(number: int, frame: FrameType | None) -> None:
        seen.set()
        before(number, frame)

    signal.signal(signal.SIGINT, notice)
    try:
        yield seen.is_set
    finally:
        signal.signal(signal.SIGINT, before)

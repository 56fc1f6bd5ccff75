"""Ending a command that runs until it is told to stop."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def stopping(stop: Callable[[], None]) -> Iterator[None]:
    """SIGTERM and Ctrl-C say stop, and no longer interrupt what is under way."""
    signals = (signal.SIGTERM, signal.SIGINT)
    before = [signal.signal(number, lambda *_: stop()) for number in signals]
    try:
        yield
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)

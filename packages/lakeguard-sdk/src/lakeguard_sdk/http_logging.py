"""Keeps URLs that contain secrets out of the logs of httpx."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_LOGGERS = ("httpx", "httpcore.connection", "httpcore.http11", "httpcore.proxy", "httpcore.socks")


@contextmanager
def unlogged() -> Iterator[None]:
    """Suppresses httpx logging for this thread; other threads are unaffected."""
    thread = threading.get_ident()

    def from_other_threads(_: logging.LogRecord) -> bool:
        return threading.get_ident() != thread

    loggers = [logging.getLogger(name) for name in _LOGGERS]
    for logger in loggers:
        logger.addFilter(from_other_threads)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(from_other_threads)

"""Keeping addresses that hold secrets out of the log of httpx."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_CHATTY = ("httpx", "httpcore.connection", "httpcore.http11", "httpcore.proxy", "httpcore.socks")


@contextmanager
def unlogged() -> Iterator[None]:
    """What this thread asks of httpx is not logged; other threads log on."""
    thread = threading.get_ident()

    def of_others(_: logging.LogRecord) -> bool:
        return threading.get_ident() != thread

    loggers = [logging.getLogger(name) for name in _CHATTY]
    for logger in loggers:
        logger.addFilter(of_others)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(of_others)

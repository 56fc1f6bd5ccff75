"""Delivering while the process goes on, and once more when it ends.

A command of a few seconds delivers after its answer is printed; a long-lived process delivers
beside its work. Whatever a process could not deliver, the next one does.
"""

from __future__ import annotations

import atexit
import concurrent.futures.thread  # noqa: F401 - cannot be loaded any more when the process ends
import threading
import time
import weakref
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from sqlalchemy import Connection, event

from lakeguard.state.database import Database
from lakeguard.state.engines import is_reading

QUIET_SECONDS = 2.0
"""How long after a commit its rows wait for others to go with."""

ROUNDS = 3
"""What one deliverer writes, such as that an alert was sent, is another's to deliver."""


END_SECONDS = 10.0
"""How long an end may take for what can wait for the next process: alerts, not the ledger."""


class Deliverer(Protocol):
    """Brings what is committed to a State somewhere else: to the ledger, or to a channel.

    One that may be late stops at ``until``, a moment of ``time.monotonic``, where it is given.
    """

    @property
    def database(self) -> Database: ...
    def is_idle(self) -> bool: ...
    def drain(self, threads: int = ..., until: float | None = ...) -> Any: ...


_behind: dict[Deliverer, threading.Timer | None] = {}
"""Deliverers whose State has told something; they live until it is delivered."""
_delivering = threading.local()


@dataclass
class _End:
    """However often a process says that it ends, all of that has one deadline, until somebody has
    something new to deliver."""

    until: float | None = None

    def deadline(self) -> float:
        if self.until is None:
            self.until = time.monotonic() + END_SECONDS
        return self.until


_end = _End()


def keep_delivered(relay: Deliverer) -> None:
    """Deliver what is committed on the relay's State, for as long as somebody holds the relay."""
    seen = weakref.ref(relay)
    event.listen(relay.database.engine, "commit", lambda connection: _committed(seen, connection))
    if not relay.is_idle():
        _behind[relay] = None
        _end.until = None


def get_ready() -> None:
    """Load what delivering needs while the caller does something else."""
    threading.Thread(target=_load, daemon=True).start()


def _load() -> None:
    with suppress(Exception):  # the process may end meanwhile; who needs it loads it again
        import_module("lakeguard.relay.delivering")


def deliver_all(threads: int | None = None) -> None:
    """What this process committed and the ledger has not yet; all rounds have one deadline."""
    until = _end.deadline()
    for _ in range(ROUNDS):
        with ExitStack() as all_of_them:  # what fails is told after the others had their turn
            for relay in reversed(list(_behind)):
                all_of_them.callback(_deliver, relay, threads, until)


def _committed(seen: weakref.ref[Deliverer], connection: Connection) -> None:
    relay = seen()
    if relay is None or is_reading(connection) or getattr(_delivering, "now", None) is relay:
        return
    if getattr(_delivering, "now", None) is None:  # what delivering writes is nothing new
        _end.until = None
    if _behind.get(relay) is None:
        _behind[relay] = _scheduled(relay)


def _scheduled(relay: Deliverer) -> threading.Timer | None:
    timer = threading.Timer(QUIET_SECONDS, _in_background, [relay])
    timer.daemon = True
    timer.start()
    return timer


def _in_background(relay: Deliverer) -> None:
    """What fails here, for whatever reason, is tried again at the next commit and at the end;
    there it is told."""
    with suppress(Exception):
        _deliver(relay, None, None)


def _deliver(relay: Deliverer, threads: int | None, until: float | None) -> None:
    """It stays behind until all is delivered: who ends the process waits for whoever delivers."""
    _behind[relay] = None
    _delivering.now = relay
    try:
        relay.drain(until=until) if threads is None else relay.drain(threads, until)
    finally:
        _delivering.now = None
    if _behind.get(relay) is None:  # else somebody committed meanwhile
        _behind.pop(relay, None)


@atexit.register
def _at_exit() -> None:
    """No thread can be started any more, and nobody reads a complaint."""
    with suppress(Exception):
        deliver_all(threads=1)

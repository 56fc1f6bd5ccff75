"""The delivery loop of a client: what is committed to its State goes to the ledger and channels.

A command of a few seconds delivers after its answer is printed, when its client is closed; a
long-lived process delivers beside its work. Rows wait in the State until they are delivered, so
that whatever a process leaves behind, the next one delivers.
"""

from __future__ import annotations

import concurrent.futures.thread  # noqa: F401 - cannot be loaded any more when the process ends
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from importlib import import_module
from typing import Any, Protocol

from lakeguard.state.database import Database
from lakeguard_sdk.backoff import Backoff

QUIET_SECONDS = 2.0
"""How often the loop looks for commits, so that rows of several go together."""

ROUNDS = 3
"""What one deliverer writes, such as that an alert was sent, is another's to deliver."""

END_SECONDS = 10.0
"""How long an end may take for what can wait for the next process: alerts, not the ledger."""


class Deliverer(Protocol):
    """Brings what is committed to a State somewhere else: to the ledger, or to a channel.

    One that may be late stops at ``until``, a moment of ``time.monotonic``, where it is given.
    """

    def is_idle(self) -> bool: ...
    def drain(self, threads: int = ..., until: float | None = ...) -> Any: ...


class DeliveryLoop:
    """Of one client. Deliverers have their turns in the order in which they are given."""

    def __init__(
        self, database: Database, deliverers: Sequence[Deliverer], seconds: float = QUIET_SECONDS
    ) -> None:
        self._database = database
        self._deliverers = tuple(deliverers)
        self._backoff = Backoff(first=seconds, longest=30 * seconds)
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Deliver in the background, soon after each commit, until closed."""
        if self._thread is None:
            self._stopped.clear()
            self._thread = threading.Thread(target=self._run, name="delivery", daemon=True)
            self._thread.start()

    def deliver(self) -> None:
        """What is committed by now; a failure is raised after the others had their turn."""
        until = time.monotonic() + END_SECONDS
        for _ in range(ROUNDS):
            if not self._round(until):
                return

    def close(self) -> None:
        """Stop, and deliver what is left. Closing again delivers what was written since."""
        self._stopped.set()
        thread, self._thread = self._thread, None
        if thread is threading.current_thread():  # its garbage collector closes a lost client
            return
        if thread is not None:
            thread.join()
        self.deliver()

    def _run(self) -> None:
        """A failure, for whatever reason, is tried again; the end tells it."""
        with suppress(Exception):  # loaded while the process does something else
            import_module("lakeguard.relay.deliver")
        delivered, failures = -1, 0
        while not self._stopped.wait(self._backoff.after(failures + 1)):
            commits = self._database.commits
            if commits == delivered:
                continue
            try:
                self._round(None)
            except Exception:  # noqa: BLE001 - whatever it is, the next time may be well
                failures += 1
            else:
                delivered, failures = commits, 0

    def _round(self, until: float | None) -> bool:
        """Whether there was anything to deliver."""
        found = [False]
        with ExitStack() as stack:  # what fails is raised after the others had their turn
            for deliverer in reversed(self._deliverers):
                stack.callback(self._drain, deliverer, until, found)
        return found[0]

    def _drain(self, deliverer: Deliverer, until: float | None, found: list[bool]) -> None:
        if deliverer.is_idle():
            return
        found[0] = True
        if threading.main_thread().is_alive():
            deliverer.drain(until=until)
        else:  # the interpreter ends: no thread can be started any more
            deliverer.drain(1, until)

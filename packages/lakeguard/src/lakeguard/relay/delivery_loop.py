"""A client's delivery loop: committed outbox rows go to the ledger, notifications to channels.

A short command delivers when its client is closed, after its output is printed; a long-lived
process delivers in the background. Rows stay in the outbox until delivered, so a later process
delivers whatever a crash left.
"""

from __future__ import annotations

import concurrent.futures.thread  # noqa: F401 - cannot be loaded any more when the process ends
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from importlib import import_module
from typing import Any, Protocol

from lakeguard.state.database import Database
from lakeguard_sdk.backoff import Backoff

QUIET_SECONDS = 2.0
"""Poll interval in seconds; commits in between are delivered together."""

ROUNDS = 3
"""Rounds per delivery: one deliverer's writes (an alert was sent) are another's input."""

END_SECONDS = 10.0
"""Seconds that closing may spend on what the next process can do too: alerts, not the ledger."""


class Deliverer(Protocol):
    """Delivers committed rows to the ledger or to a channel.

    A deliverer whose work can wait stops at ``until`` (``time.monotonic``), if given.
    """

    def is_idle(self) -> bool: ...
    def drain(self, threads: int = ..., until: float | None = ...) -> Any: ...


class DeliveryLoop:
    """The loop of one client. Deliverers run in the given order."""

    def __init__(
        self, database: Database, deliverers: Sequence[Deliverer], seconds: float | None = None
    ) -> None:
        self._commits: list[Callable[[], int]] = [lambda: database.commits]
        self._deliverers = tuple(deliverers)
        pause = QUIET_SECONDS if seconds is None else seconds
        self._backoff = Backoff(first=pause, longest=30 * pause)
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._woken = 0

    def start(self) -> None:
        """Deliver in the background, soon after each commit, until closed."""
        if self._thread is None:
            self._stopped.clear()
            self._thread = threading.Thread(target=self._run, name="delivery", daemon=True)
            self._thread.start()

    def wake(self) -> None:
        """Deliver in the background what another process committed."""
        self._woken += 1

    def watch(self, commits: Callable[[], int]) -> None:
        """Also deliver soon after commits through another ``Database``, counted by ``commits``."""
        self._commits.append(commits)

    def deliver(self) -> None:
        """Deliver everything committed so far; a failure is raised after all deliverers ran."""
        until = time.monotonic() + END_SECONDS
        for _ in range(ROUNDS):
            if not self._round(until):
                return

    def close(self) -> None:
        """Stop the thread and deliver the rest. Closing again delivers what was written since."""
        self._stopped.set()
        thread, self._thread = self._thread, None
        if thread is threading.current_thread():  # the garbage collector may close a lost client
            return
        if thread is not None:
            thread.join()
        self.deliver()

    def _run(self) -> None:
        """Failures are retried; the last one is raised by close()."""
        with suppress(Exception):  # import early, in the background
            import_module("lakeguard.relay.deliver")
        delivered, failures = -1, 0
        while not self._stopped.wait(self._backoff.after(failures + 1)):
            commits = sum(count() for count in self._commits) + self._woken
            if commits == delivered:
                continue
            try:
                self._round(None)
            except Exception:  # noqa: BLE001 - whatever it is, the next time may be well
                failures += 1
            else:
                delivered, failures = commits, 0

    def _round(self, until: float | None) -> bool:
        """Run every deliverer once; return whether there was anything to deliver."""
        found = [False]
        with ExitStack() as stack:  # raised after the other deliverers ran
            for deliverer in reversed(self._deliverers):
                stack.callback(self._drain, deliverer, until, found)
        return found[0]

    def _drain(self, deliverer: Deliverer, until: float | None, found: list[bool]) -> None:
        if deliverer.is_idle():
            return
        found[0] = True
        if threading.main_thread().is_alive():
            deliverer.drain(until=until)
        else:  # interpreter shutdown: threads can no longer start
            deliverer.drain(1, until)

"""The dispatcher's loop, and its background work."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from lakeguard_sdk.backoff import Backoff
from lakeguard_sdk.error_lines import error_line
from lakeguard_sdk.errors import StateUnavailable
from lakeguard_sdk.scheduling.jobs import Ticked

BACKOFF = Backoff(first=1.0, longest=30.0)
BACKGROUND_SECONDS = 30.0
"""Interval of background work: ledger sync and SLA sweep."""


@dataclass
class DispatcherLoop:
    """Ticks at a fixed interval, with backoff while the State is unavailable. A problem is reported
    once, until it changes."""

    tick: Callable[[], Ticked]
    report: Callable[[Ticked], None]
    warn: Callable[[str], None]
    pause_seconds: float
    stopped: threading.Event = field(default_factory=threading.Event)
    wait: Callable[[float], bool] | None = None
    _reported: tuple[str, ...] = ()

    def run(self) -> None:
        """Returns after the tick during which it was stopped."""
        wait = self.wait or self.stopped.wait
        failures = 0
        while not self.stopped.is_set():
            try:
                ticked = self.tick()
            except StateUnavailable as error:
                if not failures:
                    self.warn(f"control plane unavailable, retrying: {error}")
                failures += 1
            else:
                if failures:
                    self.warn("control plane available again")
                failures = 0
                self._report(ticked)
            wait(BACKOFF.after(failures) if failures else self.pause_seconds)

    def _report(self, ticked: Ticked) -> None:
        new = tuple(message for message in ticked.problems if message not in self._reported)
        self._reported = ticked.problems
        self.report(ticked.model_copy(update={"problems": new}))


@contextmanager
def in_background(
    work: Callable[[], object], warn: Callable[[str], None], seconds: float = BACKGROUND_SECONDS
) -> Iterator[None]:
    """Calls ``work`` periodically in a thread; a failure is reported once, until it changes.

    On exit a running call is waited for.
    """
    stopped = threading.Event()

    def loop() -> None:
        reported = ""
        while not stopped.wait(seconds):
            try:
                work()
                reported = ""
            except Exception as error:  # noqa: BLE001 - the next call may succeed
                message = error_line(error)
                if message != reported:
                    warn(message)
                reported = message

    thread = threading.Thread(target=loop, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()

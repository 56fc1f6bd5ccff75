"""Turn after turn of the dispatcher, until it is told to stop."""

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
BESIDE_SECONDS = 30.0
"""So often the ledger and what is late are looked after, beside the turns."""


@dataclass
class TurnLoop:
    """Turns at even pauses. A State that is away is asked again, more and more seldom, and found
    again by itself; what went wrong is told once, until it changes."""

    tick: Callable[[], Ticked]
    tell: Callable[[Ticked], None]
    warn: Callable[[str], None]
    pause_seconds: float
    stopped: threading.Event = field(default_factory=threading.Event)
    wait: Callable[[float], bool] | None = None
    _known: tuple[str, ...] = ()

    def run(self) -> None:
        """Ends after the turn in which it was told to stop."""
        wait = self.wait or self.stopped.wait
        failures = 0
        while not self.stopped.is_set():
            try:
                done = self.tick()
            except StateUnavailable as error:
                if not failures:
                    self.warn(f"the control plane is away, trying on: {error}")
                failures += 1
            else:
                if failures:
                    self.warn("the control plane is back")
                failures = 0
                self._told(done)
            wait(BACKOFF.after(failures) if failures else self.pause_seconds)

    def _told(self, done: Ticked) -> None:
        new = tuple(said for said in done.problems if said not in self._known)
        self._known = done.problems
        self.tell(done.model_copy(update={"problems": new}))


@contextmanager
def beside(
    work: Callable[[], object], warn: Callable[[str], None], seconds: float = BESIDE_SECONDS
) -> Iterator[None]:
    """Does ``work`` now and then in a thread of its own; a failure is told once, until it passes.

    What is under way when the block ends is waited for.
    """
    stopped = threading.Event()

    def go_on() -> None:
        known = ""
        while not stopped.wait(seconds):
            try:
                work()
                known = ""
            except Exception as error:  # noqa: BLE001 - whatever it is, the next time may be well
                said = error_line(error)
                if said != known:
                    warn(said)
                known = said

    thread = threading.Thread(target=go_on, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()

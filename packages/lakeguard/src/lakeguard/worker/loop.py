"""A worker's loop: it takes what is due while it has a free slot, until it is told to stop."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from queue import Empty, SimpleQueue

from lakeguard.worker import backoff
from lakeguard.worker.attempt import Attempt, Ended, Ending
from lakeguard.worker.backoff import is_waited_out
from lakeguard.worker.heartbeat import keeping_leases
from lakeguard_sdk.backoff import jitter
from lakeguard_sdk.errors import LakeGuardError
from lakeguard_sdk.model.run import Failure, WorkerIdentity
from lakeguard_sdk.scheduling.tasks import Assignment, Dispatch, RefusedTask

HALT_SECONDS = 60.0
"""For attempts that were told to stop; what has not ended by then is left to its lease."""


class Told(StrEnum):
    """What a loop tells of itself."""

    BEGUN = "begun"
    ENDED = "ended"
    REFUSED = "refused"
    AWAY = "away"
    BACK = "back"
    STOPPING = "stopping"


Teller = Callable[[Told, Attempt | RefusedTask | None, Ended | None, str], None]


@dataclass(frozen=True)
class Manner:
    """How a worker goes about it."""

    slots: int = 1
    labels: frozenset[str] = frozenset()
    poll_seconds: float = 2.0
    heartbeat_seconds: float = 30.0
    grace_seconds: float = 30.0
    """For attempts under way once it is told to stop; then they are interrupted."""
    drain: bool = False
    """Ends when nothing is due and nothing runs."""


@dataclass
class WorkLoop:
    """``work`` runs one attempt to its end; ``halt`` interrupts all that run."""

    dispatch: Dispatch
    identity: WorkerIdentity
    work: Callable[[Attempt], Ended]
    halt: Callable[[], None]
    manner: Manner
    tell: Teller = lambda *_: None
    _attempts: dict[str, Attempt] = field(default_factory=dict)
    _endings: list[Ending] = field(default_factory=list)
    _wake: SimpleQueue[None] = field(default_factory=SimpleQueue)
    _refusals: int = 0
    _stops: int = 0

    def run(self) -> Counter[Ending]:
        """How attempts ended, by count; a task that was refused one counts as blocked. Whatever
        ends the loop, those under way end first, or are interrupted after their grace."""
        with keeping_leases(self.dispatch, self._held, self.manner.heartbeat_seconds):
            try:
                self._go_on()
            finally:
                self._wind_down()
        return Counter(self._endings)

    def stop(self) -> None:
        """Once: take nothing more. Again: interrupt what runs. A signal's handler may call it."""
        self._stops += 1
        self._wake.put(None)

    def _go_on(self) -> None:
        while not self._stops:
            idle = not self._attempts
            before = self._refusals
            taken = self._taken()
            for assignment in taken:
                self._begin(Attempt(assignment))
            if self._refusals > before:
                continue  # more may wait behind what was refused
            if self.manner.drain and idle and not taken:
                return
            self._rest(jitter(self.manner.poll_seconds))

    def _taken(self) -> Sequence[Assignment]:
        """As much as there are free slots; while the State is away, it is waited for."""
        free = self.manner.slots - len(self._attempts)
        delays = backoff.BACKOFF.jittered()
        away = False
        while free > 0 and not self._stops:
            try:
                taken = self._claim(free)
            except LakeGuardError as error:
                if not is_waited_out(error):
                    raise
                if not away:
                    self.tell(Told.AWAY, None, None, str(error))
                away = True
                self._rest(next(delays))
                continue
            if away:
                self.tell(Told.BACK, None, None, "")
            return taken
        return ()

    def _claim(self, most: int) -> Sequence[Assignment]:
        return self.dispatch.claim(
            self.identity, limit=most, labels=self.manner.labels, refused=self._refuse
        )

    def _refuse(self, task: RefusedTask) -> None:
        self._refusals += 1
        self._endings.append(Ending.BLOCKED)
        self.tell(Told.REFUSED, task, None, "")

    def _begin(self, attempt: Attempt) -> None:
        run_id = attempt.ticket.run_id
        self._attempts[run_id] = attempt
        self.tell(Told.BEGUN, attempt, None, "")
        name = f"attempt {run_id}"
        threading.Thread(target=self._run, args=(attempt,), name=name, daemon=True).start()

    def _run(self, attempt: Attempt) -> None:
        try:
            ended = self.work(attempt)
        except BaseException as error:  # noqa: BLE001 - a slot outlives whatever ran in it
            said = f"{type(error).__name__}: {error}"
            code = error.code if isinstance(error, LakeGuardError) else LakeGuardError.code
            ended = Ended(Ending.FAILED, Failure(code=code, message=said))
        self._endings.append(ended.ending)
        try:
            self.tell(Told.ENDED, attempt, ended, "")
        finally:  # nobody may be listening any more
            del self._attempts[attempt.ticket.run_id]
            self._wake.put(None)

    def _wind_down(self) -> None:
        if not self._attempts:
            return
        self.tell(Told.STOPPING, None, None, f"{len(self._attempts)}")
        until = time.monotonic() + self.manner.grace_seconds
        while self._attempts and self._stops < 2 and time.monotonic() < until:
            self._rest(until - time.monotonic())
        if not self._attempts:
            return
        for attempt in self._held():
            attempt.stop()
        self.halt()
        until = time.monotonic() + HALT_SECONDS
        while self._attempts and self._stops < 3 and time.monotonic() < until:
            self._rest(until - time.monotonic())

    def _held(self) -> list[Attempt]:
        return list(self._attempts.values())

    def _rest(self, seconds: float) -> None:
        """Until then, or until an attempt ends or somebody says stop. The queue, unlike an event,
        may be used by a handler that interrupts whoever waits for it."""
        try:
            self._wake.get(timeout=max(0.0, seconds))
            while True:
                self._wake.get_nowait()
        except Empty:
            return


# Keeping a worker's memory and first environment from the processes of its jobs.

_PR_SET_DUMPABLE = 4


def seclude() -> None:
    """Other processes of the same user cannot look into this one, or trace it; a user who may do
    everything still can. On systems without such a switch nothing happens."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)

"""The worker loop: claims due tasks while slots are free, until stopped."""

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
from lakeguard.worker.backoff import is_retried
from lakeguard.worker.heartbeat import heartbeats
from lakeguard.worker.report_batches import Claimant, ReportBatcher
from lakeguard_sdk.backoff import jitter
from lakeguard_sdk.errors import LakeGuardError
from lakeguard_sdk.model.run import Failure, WorkerIdentity
from lakeguard_sdk.scheduling.tasks import Assignment, Dispatch, RefusedTask

HALT_SECONDS = 60.0
"""Time for stopped attempts to end; after that their leases expire."""


REFILL_SECONDS = 0.005
"""Wait for further attempts to end, so that one claim fills all their slots."""


class WorkerEvent(StrEnum):
    """Events of the worker loop."""

    BEGUN = "begun"
    ENDED = "ended"
    REFUSED = "refused"
    AWAY = "away"
    BACK = "back"
    STOPPING = "stopping"


Listener = Callable[[WorkerEvent, Attempt | RefusedTask | None, Ended | None, str], None]


@dataclass(frozen=True)
class WorkerOptions:
    """Options of a worker."""

    slots: int = 1
    labels: frozenset[str] = frozenset()
    poll_seconds: float = 2.0
    heartbeat_seconds: float = 30.0
    grace_seconds: float = 30.0
    """Time for running attempts to finish after a stop signal, before they are interrupted."""
    drain: bool = False
    """Exit when nothing is due or running."""


@dataclass
class WorkLoop:
    """``work`` runs one attempt; ``halt`` interrupts all running ones."""

    dispatch: Dispatch
    identity: WorkerIdentity
    work: Callable[[Attempt], Ended]
    halt: Callable[[], None]
    options: WorkerOptions
    notify: Listener = lambda *_: None
    reports: ReportBatcher | None = None
    """By which attempts report; then a report brings the next task of its slot."""
    _attempts: dict[str, Attempt] = field(default_factory=dict)
    _following: dict[str, Assignment] = field(default_factory=dict)
    """Tasks claimed with reports, by the runs whose slots they get."""
    _endings: list[Ending] = field(default_factory=list)
    _wake: SimpleQueue[None] = field(default_factory=SimpleQueue)
    _refusals: int = 0
    _stops: int = 0

    def run(self) -> Counter[Ending]:
        """Counts of results; a refused task counts as blocked. Running attempts finish first, or
        are interrupted after the grace period."""
        if self.reports is not None:
            self.reports.refill(self)
        with heartbeats(self.dispatch, self._running, self.options.heartbeat_seconds):
            try:
                self._poll()
            finally:
                self._shut_down()
        return Counter(self._endings)

    def stop(self) -> None:
        """First call: claim nothing more. Second: interrupt running attempts. Signal-safe."""
        self._stops += 1
        self._wake.put(None)

    def _poll(self) -> None:
        while not self._stops:
            idle = not self._attempts
            before = self._refusals
            taken = [Attempt(assignment) for assignment in self._claim_free()]
            self._attempts |= {attempt.ticket.run_id: attempt for attempt in taken}
            for attempt in taken:
                self._begin(attempt)
            if self._refusals > before:
                continue  # more tasks may be queued after the refused one
            if self.options.drain and idle and not taken:
                return
            self._sleep(jitter(self.options.poll_seconds))

    def _claim_free(self) -> Sequence[Assignment]:
        """Claims up to the free slots; retries while the State is unavailable."""
        free = self.options.slots - len(self._attempts)
        delays = backoff.BACKOFF.jittered()
        unavailable = False
        while free > 0 and not self._stops:
            try:
                taken = self._claim(free)
            except LakeGuardError as error:
                if not is_retried(error):
                    raise
                if not unavailable:
                    self.notify(WorkerEvent.AWAY, None, None, str(error))
                unavailable = True
                self._sleep(next(delays))
                continue
            if unavailable:
                self.notify(WorkerEvent.BACK, None, None, "")
            return taken
        return ()

    def _claim(self, most: int) -> Sequence[Assignment]:
        return self.dispatch.claim(
            self.identity, limit=most, labels=self.options.labels, refused=self._refuse
        )

    def _refuse(self, task: RefusedTask) -> None:
        self._refusals += 1
        self._endings.append(Ending.BLOCKED)
        self.notify(WorkerEvent.REFUSED, task, None, "")

    def _begin(self, attempt: Attempt) -> None:
        self.notify(WorkerEvent.BEGUN, attempt, None, "")
        self._start(attempt)

    def _start(self, attempt: Attempt) -> None:
        name = f"attempt {attempt.ticket.run_id}"
        threading.Thread(target=self._run, args=(attempt,), name=name, daemon=True).start()

    def _run(self, attempt: Attempt) -> None:
        """An attempt, and those that its slot gets afterwards."""
        following: Attempt | None = attempt
        while following is not None:
            following = self._end(following, self._ended(following))

    def _ended(self, attempt: Attempt) -> Ended:
        try:
            return self.work(attempt)
        except BaseException as error:  # noqa: BLE001 - the slot must survive
            message = f"{type(error).__name__}: {error}"
            code = error.code if isinstance(error, LakeGuardError) else LakeGuardError.code
            return Ended(Ending.FAILED, Failure(code=code, message=message))

    def _end(self, attempt: Attempt, ended: Ended) -> Attempt | None:
        """The next attempt of its slot, begun."""
        self._endings.append(ended.ending)
        given = self._following.pop(attempt.ticket.run_id, None)
        following = None if given is None else Attempt(given)
        try:
            self.notify(WorkerEvent.ENDED, attempt, ended, "")
            self._replace(attempt, following)
            if following is not None:
                self.notify(WorkerEvent.BEGUN, following, None, "")
        except BaseException:  # of the listener
            self._replace(attempt, following)
            if following is not None:
                self._start(following)
            raise
        return following

    def _replace(self, attempt: Attempt, following: Attempt | None) -> None:
        """In this order, so that the worker is not idle in between."""
        if following is not None:
            self._attempts[following.ticket.run_id] = following
        self._attempts.pop(attempt.ticket.run_id, None)
        if len(self._attempts) < self.options.slots:
            self._wake.put(None)

    # Slots of ``ReportBatcher``.

    def busy(self) -> int:
        return len(self._attempts)

    def claimant(self) -> Claimant | None:
        if self._stops:
            return None
        return Claimant(self.identity, self.options.labels, self._refuse)

    def fill(self, ended: Sequence[str], given: Sequence[Assignment]) -> None:
        """To a slot of the same job where there is one: its attempt is over when the next begins,
        so that no more attempts of a job run than it allows."""
        slots = {run_id: self._attempts[run_id].assignment.job for run_id in ended}
        others = list[Assignment]()
        for assignment in given:
            same = next((run for run, job in slots.items() if job == assignment.job), None)
            if same is None:
                others.append(assignment)
            else:
                del slots[same]
                self._following[same] = assignment
        self._following |= zip(slots, others, strict=False)

    def _shut_down(self) -> None:
        if not self._attempts:
            return
        self.notify(WorkerEvent.STOPPING, None, None, f"{len(self._attempts)}")
        until = time.monotonic() + self.options.grace_seconds
        while self._attempts and self._stops < 2 and time.monotonic() < until:
            self._sleep(until - time.monotonic())
        if not self._attempts:
            return
        for attempt in self._running():
            attempt.stop()
        self.halt()
        until = time.monotonic() + HALT_SECONDS
        while self._attempts and self._stops < 3 and time.monotonic() < until:
            self._sleep(until - time.monotonic())

    def _running(self) -> list[Attempt]:
        return list(self._attempts.values())

    def _sleep(self, seconds: float) -> None:
        """Sleeps until an attempt ends or ``stop`` is called, and a moment longer: attempts that
        are reported together end together, and their slots are filled by one claim. A SimpleQueue,
        unlike an Event, is reentrant and so safe in signal handlers."""
        try:
            self._wake.get(timeout=max(0.0, seconds))
            until = time.monotonic() + REFILL_SECONDS
            while True:
                self._wake.get(timeout=max(0.0, until - time.monotonic()))
        except Empty:
            return


# Isolation of the worker's memory and environment from job subprocesses.

_PR_SET_DUMPABLE = 4


def isolate_process() -> None:
    """Makes this process non-dumpable: others of the same user cannot read or trace it; root still
    can. Linux only, else a no-op."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)

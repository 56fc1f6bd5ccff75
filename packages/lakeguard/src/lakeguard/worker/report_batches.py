"""Attempts that end together are reported by one call, which brings the next tasks."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import NamedTuple, Protocol

from lakeguard_sdk.errors import LakeGuardError
from lakeguard_sdk.model.run import Failure, RunTicket, WorkerIdentity
from lakeguard_sdk.scheduling.tasks import (
    Assignment,
    Dispatch,
    RefusedTask,
    TaskAnswer,
    TaskReport,
)

BATCH_SECONDS = 0.003
"""Wait for further reports before a batch is sent."""


class Claimant(NamedTuple):
    """Who claims tasks."""

    worker: WorkerIdentity
    labels: frozenset[str]
    refused: Callable[[RefusedTask], None]


class Slots(Protocol):
    """The slots of a worker."""

    def busy(self) -> int:
        """How many attempts may report."""

    def claimant(self) -> Claimant | None:
        """None if the slots stay empty from now on."""

    def fill(self, ended: Sequence[str], given: Sequence[Assignment]) -> None:
        """Gives tasks to the slots of these runs, before they hear that their reports were
        recorded."""


@dataclass
class _Waiting:
    ticket: RunTicket
    report: TaskReport
    answer: TaskAnswer | Failure | None = None
    error: LakeGuardError | None = None
    sends: bool = False
    """Whether it was woken to send the next batch."""
    _woken: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def wait(self) -> bool:
        self._woken.acquire()
        return self.sends

    def wake(self, *, sends: bool = False) -> None:
        self.sends = sends
        self._woken.release()


class ReportBatcher:
    """Batches the reports of concurrent attempts: one call for all that arrive within
    ``BATCH_SECONDS`` or during the previous call. It is sent at once if no attempt is left that
    could report."""

    def __init__(self, dispatch: Dispatch) -> None:
        self._dispatch = dispatch
        self._slots: Slots | None = None
        self._lock = threading.Lock()
        self._sending = False
        self._waiting: SimpleQueue[_Waiting] = SimpleQueue()

    def refill(self, slots: Slots) -> None:
        """From now on reports bring the next tasks."""
        self._slots = slots

    def report(self, ticket: RunTicket, report: TaskReport) -> TaskAnswer:
        mine = _Waiting(ticket, report)
        with self._lock:
            sends = not self._sending
            self._sending = True
            if not sends:
                self._waiting.put(mine)
        if sends or mine.wait():
            self._send(mine)
        if mine.error is not None:
            raise mine.error
        if isinstance(mine.answer, TaskAnswer):
            return mine.answer
        return self._dispatch.report(ticket, report)  # alone, for the error itself

    def _send(self, mine: _Waiting) -> None:
        batch = [mine]
        try:
            self._gather(batch)
            for each, answer in zip(batch, self._answers(batch), strict=True):
                each.answer = answer
        except LakeGuardError as error:
            for each in batch:
                each.error = error
        finally:
            for each in batch[1:]:
                each.wake()
            self._pass_on()

    def _gather(self, batch: list[_Waiting]) -> None:
        most = sys.maxsize if self._slots is None else self._slots.busy()
        until = time.monotonic() + BATCH_SECONDS
        with suppress(Empty):
            while len(batch) < most:
                batch.append(self._waiting.get(timeout=max(0.0, until - time.monotonic())))

    def _answers(self, batch: Sequence[_Waiting]) -> Sequence[TaskAnswer | Failure]:
        reports = [(each.ticket, each.report) for each in batch]
        claimant = None if self._slots is None else self._slots.claimant()
        if self._slots is None or claimant is None:
            if len(batch) == 1:
                return [self._dispatch.report(*reports[0])]
            return self._dispatch.report_all(reports)
        answers, given = self._dispatch.report_and_claim(
            reports, claimant.worker, labels=claimant.labels, refused=claimant.refused
        )
        ended = [answer.run_id for answer in answers if isinstance(answer, TaskAnswer)]
        self._slots.fill(ended, given)
        return answers

    def _pass_on(self) -> None:
        """The first that waits sends the next batch."""
        with self._lock:
            try:
                following = self._waiting.get_nowait()
            except Empty:
                self._sending = False
                return
        following.wake(sends=True)
